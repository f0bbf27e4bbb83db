# MLIR and LLVM 19 as Debian packages them, linked statically. Debian's export names shared or absent libraries in
# places; the loops below put the static ones there (docs/design/dependencies.md says why).
set(ZLIB_USE_STATIC_LIBS ON)
find_package(MLIR 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir NO_DEFAULT_PATH)

llvm_map_components_to_libnames(EPI_LLVM_LIBS core support orcjit jitlink X86 NVPTX analysis target mc object
  instcombine scalaropts transformutils vectorize passes ipo aggressiveinstcombine bitreader bitwriter linker)
add_library(epi_llvm INTERFACE)
target_link_libraries(epi_llvm INTERFACE ${EPI_LLVM_LIBS})
target_include_directories(epi_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(EPI_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(epi_llvm INTERFACE ${EPI_LLVM_DEFINITIONS} -fno-rtti -Wno-unused-parameter -Wno-conversion)

get_property(epi_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(t IN LISTS epi_mlir_libs)
  if(TARGET ${t})
    get_target_property(l ${t} INTERFACE_LINK_LIBRARIES)
    if(l)
      list(TRANSFORM l REPLACE "^LLVM$" "epi_llvm")
      list(TRANSFORM l REPLACE "^zstd::libzstd_shared$" "zstd::libzstd_static")
      set_target_properties(${t} PROPERTIES INTERFACE_LINK_LIBRARIES "${l}")
    endif()
  endif()
endforeach()
get_target_property(l LLVMExtensions INTERFACE_LINK_LIBRARIES)
list(FILTER l EXCLUDE REGEX "^Polly")
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES "${l}")
get_target_property(l LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER l EXCLUDE REGEX "z3")
list(TRANSFORM l REPLACE "^zstd::libzstd_shared$" "zstd::libzstd_static")
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${l}")

add_library(epi_mlir INTERFACE)
target_link_libraries(epi_mlir INTERFACE MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRTransformUtils
  MLIRSCFDialect MLIRFuncDialect MLIRArithDialect MLIRSideEffectInterfaces MLIRControlFlowInterfaces
  MLIRInferTypeOpInterface MLIRFunctionInterfaces MLIRLoopLikeInterface epi_llvm)

set(EPI_TBLGEN /usr/lib/llvm-19/bin/mlir-tblgen)

# g++ 12 knows -fuse-ld=lld only: give it a folder whose ld.lld is version 19.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/ldbin)
file(CREATE_LINK /usr/lib/llvm-19/bin/ld.lld ${CMAKE_BINARY_DIR}/ldbin/ld.lld SYMBOLIC)
set(EPI_LINK_OPTIONS -fuse-ld=lld -B${CMAKE_BINARY_DIR}/ldbin -Wl,--gc-sections -Wl,--as-needed)
