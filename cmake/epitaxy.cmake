# Helpers: one library a floor, warnings on, sources globbed so that a backend is one folder.
add_library(epi_options INTERFACE)
target_include_directories(epi_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(epi_options INTERFACE -Wall -Wextra -Wconversion -Wno-sign-conversion -ffunction-sections -fdata-sections
                       -ffp-contract=off)
find_package(Threads REQUIRED)

# epi_floor(NAME folder... [DEPENDS libs...]): static library epi_NAME from every .cpp of the folders.
function(epi_floor name)
  cmake_parse_arguments(A "" "" "FOLDERS;DEPENDS" ${ARGN})
  set(sources)
  foreach(folder IN LISTS A_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/epi/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    add_library(epi_${name} INTERFACE)
    target_link_libraries(epi_${name} INTERFACE epi_options ${A_DEPENDS})
    return()
  endif()
  add_library(epi_${name} STATIC ${sources})
  target_link_libraries(epi_${name} PUBLIC epi_options ${A_DEPENDS})
endfunction()
