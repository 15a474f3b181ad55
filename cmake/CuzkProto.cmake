# cuzk_proto: the messages and the service of proto/, generated and compiled once, without the project's warnings.
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

set(proto_root "${CMAKE_SOURCE_DIR}/proto")
set(proto_file "${proto_root}/cuzk/v1/proving.proto")
set(proto_out "${CMAKE_BINARY_DIR}/proto")
set(proto_base "${proto_out}/cuzk/v1/proving")
file(MAKE_DIRECTORY "${proto_out}")
add_custom_command(
  OUTPUT "${proto_base}.pb.cc" "${proto_base}.pb.h" "${proto_base}.grpc.pb.cc" "${proto_base}.grpc.pb.h"
  COMMAND protobuf::protoc "--proto_path=${proto_root}" "--cpp_out=${proto_out}" "--grpc_out=${proto_out}"
          "--plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}" "${proto_file}"
  DEPENDS "${proto_file}"
  COMMENT "Generating the gRPC interface"
  VERBATIM)
add_library(cuzk_proto STATIC "${proto_base}.pb.cc" "${proto_base}.grpc.pb.cc")
target_include_directories(cuzk_proto SYSTEM PUBLIC "${proto_out}")
target_link_libraries(cuzk_proto PUBLIC gRPC::grpc++ protobuf::libprotobuf)
if(CUZK_SANITIZE)
  target_compile_options(cuzk_proto PRIVATE -fsanitize=${CUZK_SANITIZE} -fno-omit-frame-pointer)
endif()
