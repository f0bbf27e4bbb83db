// Errors of index and view ops.
// RUN: epi-opt %s --split-input-file --verify-diagnostics

!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>

func.func @f() {
  // expected-error @+1 {{'tile.program_id' op axis 3; a grid's axes are 0, 1 and 2}}
  %0 = tile.program_id 3
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tile.num_programs' op axis -1; a grid's axes are 0, 1 and 2}}
  %0 = tile.num_programs -1
  return
}
// -----
!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v) {
  // expected-error @+1 {{'tile.dim' op axis 2 of something with 2 axes; it must be in [0, 2)}}
  %0 = tile.dim %x, 2 : !v
  return
}
// -----
!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v) {
  // expected-error @+1 {{'tile.stride' op axis -1 of something with 2 axes; it must be in [0, 2)}}
  %0 = tile.stride %x, -1 : !v
  return
}
// -----
!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.slice' op axis 5 of something with 2 axes; it must be in [0, 2)}}
  %0 = tile.slice %x, 5, %i to %i : !v -> !v
  return
}
// -----
!v = !tile.view<4xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.slice' op result is '!tile.view<4xf32, strides = [1], div = [1], align = 16, alias = 0>'; it must be '!tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>'}}
  %0 = tile.slice %x, 0, %i to %i : !v -> !v
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
!w = !tile.view<?xf32, strides = [1], div = [1], align = 32, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.slice' op result has alignment 32; it must divide the source's, 16}}
  %0 = tile.slice %x, 0, %i to %i : !v -> !w
  return
}
// -----
!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v) {
  // expected-error @+1 {{'tile.permute_view' op permutation [0, 0] of a view of float32[?, ?]; it must name each of the 2 axes once}}
  %0 = tile.permute_view %x [0, 0] : !v -> !v
  return
}
// -----
!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v) {
  // expected-error @+1 {{'tile.permute_view' op result is}}
  %0 = tile.permute_view %x [1, 0] : !v -> !v
  return
}
