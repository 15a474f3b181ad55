# What is installed, and the Debian package of it: `cmake --build --preset release --target package` makes
# build/release/cuzk_<version>_amd64.deb. Its dependencies are found by dpkg-shlibdeps (package dpkg-dev).
include(GNUInstallDirs)

install(TARGETS cuzk RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
set(packaging "${CMAKE_SOURCE_DIR}/packaging")
install(FILES "${packaging}/cuzk.service" DESTINATION lib/systemd/system)
install(FILES "${packaging}/cuzk.sysusers" DESTINATION lib/sysusers.d RENAME cuzk.conf)
install(FILES "${packaging}/cuzk.tmpfiles" DESTINATION lib/tmpfiles.d RENAME cuzk.conf)
install(FILES "${packaging}/alerts.yml" DESTINATION "${CMAKE_INSTALL_DATADIR}/cuzk")
install(FILES "${CMAKE_SOURCE_DIR}/proto/cuzk/v1/proving.proto" DESTINATION "${CMAKE_INSTALL_DATADIR}/cuzk/proto/cuzk/v1")
install(FILES "${CMAKE_SOURCE_DIR}/README.md" "${CMAKE_SOURCE_DIR}/docs/operations.md"
  "${CMAKE_SOURCE_DIR}/docs/configuration.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${packaging}/debian/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# An absolute path: /etc whatever the prefix. DESTDIR and CPack put their folder before it.
install(FILES "${packaging}/cuzk.toml" DESTINATION /etc/cuzk)
install(FILES "${packaging}/cuzk.default" DESTINATION /etc/default RENAME cuzk)

# Debian wants manual and list of changes compressed, without a time in them.
find_program(GZIP gzip REQUIRED)
function(cuzk_install_compressed source destination name)
  set(compressed "${CMAKE_BINARY_DIR}/packaging/${name}.gz")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/packaging")
  execute_process(COMMAND "${GZIP}" -9 --no-name --stdout "${source}" OUTPUT_FILE "${compressed}" COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  install(FILES "${compressed}" DESTINATION "${destination}")
endfunction()
cuzk_install_compressed("${packaging}/cuzk.1" "${CMAKE_INSTALL_MANDIR}/man1" cuzk.1)
cuzk_install_compressed("${packaging}/debian/changelog" "${CMAKE_INSTALL_DOCDIR}" changelog)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cuzk)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "the cuzk authors <maintainers@cuzk.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "persistent Groth16 proving engine for Filecoin")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Makes the Groth16 proofs of a Filecoin storage provider (PoRep, sector updates, WindowPoSt, WinningPoSt) on GPUs, as a
 daemon that speaks the gRPC protocol of Curio's cuzk, and from the command line.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd | adduser")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nvidia-modprobe, nvidia-persistenced")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${packaging}/debian/conffiles;${packaging}/debian/postinst;${packaging}/debian/prerm;${packaging}/debian/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
