# libepitaxy: what C++ users link after find_package(epitaxy). The floors that have a public header are in it whole, the
# others as far as they are used. Only epi:: is exported, so that LLVM inside never meets another LLVM of the process.
set(public epi_base epi_device epi_runtime epi_ir epi_jit epi_math)
set_target_properties(${public} PROPERTIES CXX_VISIBILITY_PRESET default)

set(objects)
foreach(floor IN LISTS public)
  get_target_property(type ${floor} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    list(APPEND objects $<TARGET_OBJECTS:${floor}>)
  endif()
endforeach()
set(exports ${CMAKE_SOURCE_DIR}/cmake/exports.map)
add_library(epitaxy SHARED ${objects})
target_link_libraries(epitaxy PRIVATE ${public})
target_link_options(epitaxy PRIVATE ${EPI_LINK_OPTIONS} -Wl,--version-script=${exports} -Wl,-z,defs)
target_include_directories(epitaxy INTERFACE $<INSTALL_INTERFACE:include>)
target_compile_features(epitaxy INTERFACE cxx_std_20)
set_target_properties(epitaxy PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
                      LINK_DEPENDS ${exports})

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/epitaxy)
install(TARGETS epitaxy EXPORT epitaxyTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp
        NAMELINK_COMPONENT cpp)
install(EXPORT epitaxyTargets NAMESPACE epitaxy:: DESTINATION ${package} COMPONENT cpp)
foreach(floor base device runtime jit math)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/epi/${floor} DESTINATION include/epi COMPONENT cpp
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
endforeach()
foreach(header builder.h interp.h kinds.h kinds.def lookback.h)  # the rest of ir/ shows MLIR
  install(FILES ${CMAKE_SOURCE_DIR}/src/epi/ir/${header} DESTINATION include/epi/ir COMPONENT cpp)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/src/epi/epi.h DESTINATION include/epi COMPONENT cpp)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/epitaxyConfig.cmake.in ${CMAKE_BINARY_DIR}/epitaxyConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/epitaxyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/epitaxyConfig.cmake ${CMAKE_BINARY_DIR}/epitaxyConfigVersion.cmake
        DESTINATION ${package} COMPONENT cpp)
