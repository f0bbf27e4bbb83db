// Errors of creation and shape ops.
// RUN: epi-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'tile.constant' op constant 1 : i64; it must be a int32 scalar}}
  %0 = tile.constant(1 : i64) : i32
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tile.constant' op value is dense<1> : tensor<2xi32>; it must be a dense constant of type 'tensor<4xi32>'}}
  %0 = tile.constant(dense<1> : tensor<2xi32>) : tensor<4xi32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tile.constant' op constant [1.000000e+00 : f32]; it must be a complex64 scalar}}
  %0 = tile.constant([1.0 : f32]) : complex<f32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tile.iota' op axis 1 of something with 1 axes; it must be in [0, 1)}}
  %0 = tile.iota 1 : tensor<4xi32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tile.iota' op element is bool; iota makes integers or floats}}
  %0 = tile.iota 0 : tensor<4xi1>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'tile.broadcast' op cannot broadcast float32[2, 3] to shape [2, 6]; extents must be equal or 1}}
  %0 = tile.broadcast %x : tensor<2x3xf32> -> tensor<2x6xf32>
  return
}
// -----
func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'tile.broadcast' op cannot broadcast float32[3] to shape [2, 3]; extents must be equal or 1}}
  %0 = tile.broadcast %x : tensor<3xf32> -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'tile.reshape' op cannot reshape float32[2, 3] to [5]; 6 elements are not 5}}
  %0 = tile.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}
// -----
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tile.reshape' op result is 'tensor<2xi32>'; it must be 'tensor<2xf32>'}}
  %0 = tile.reshape %x : tensor<2xf32> -> tensor<2xi32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'tile.permute' op permutation [0, 2] of float32[2, 3]; it must name each of the 2 axes once}}
  %0 = tile.permute %x [0, 2] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'tile.permute' op result is 'tensor<2x3xf32>'; it must be 'tensor<3x2xf32>'}}
  %0 = tile.permute %x [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x3xi32>) {
  // expected-error @+1 {{'tile.cat' op cannot put int32[3, 3] after float32[2, 3] on axis 0; dtype and other extents must be equal}}
  %0 = tile.cat 0 %x, %y : tensor<2x3xf32>, tensor<3x3xi32> -> tensor<5x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'tile.cat' op axis 2 of something with 2 axes; it must be in [0, 2)}}
  %0 = tile.cat 2 %x : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.extract' op part [2, 2] at offsets [3, 0] leaves the tile [4, 4] on axis 0}}
  %0 = tile.extract %x [3, 0] : tensor<4x4xf32> -> tensor<2x2xf32>
  return
}
// -----
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.extract' op part [2] at offsets [0, 0] of a tile [4, 4]; part and offsets need one number an axis}}
  %0 = tile.extract %x [0, 0] : tensor<4x4xf32> -> tensor<2xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{'tile.insert' op cannot insert float64[2] into float32[4]; dtypes must be equal}}
  %0 = tile.insert %y into %x [0] : tensor<2xf64>, tensor<4xf32> -> tensor<4xf32>
  return
}
