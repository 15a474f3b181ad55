# cmake -DPROGRAM=file -DWITH_HOOKS=file -P CheckNoTestHooks.cmake
#
# Fails if PROGRAM holds anything of the namespaces cuzk::<layer>::testing, where fakes and their fault hooks live, or an
# option of the fault server. WITH_HOOKS is a program that holds them: if they are not found there, they would be found
# nowhere. Names of types with virtual functions are looked for, which stripping leaves in place.
foreach(hook "N4cuzk6engine7testing[0-9]+FakeDevice" "N4cuzk6engine7testing[0-9]+ToyPreparation"
             "N4cuzk6engine7testing[0-9]+ToyParameters" "device-fault" "slow-disk-ms")
  file(STRINGS "${WITH_HOOKS}" found LIMIT_COUNT 1 REGEX "${hook}")
  if(NOT found)
    message(FATAL_ERROR "${WITH_HOOKS}: no ${hook}: this check looks for the wrong names")
  endif()
endforeach()
file(STRINGS "${PROGRAM}" found LIMIT_COUNT 5 REGEX "cuzk[0-9a-z]*7testing|device-fault|slow-disk-ms")
if(found)
  message(FATAL_ERROR "${PROGRAM} holds test hooks: ${found}")
endif()
