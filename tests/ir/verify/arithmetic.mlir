// Errors of elementwise ops.
// RUN: epi-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: i32) {
  // expected-error @+1 {{'tile.unary' op exp got int32; it takes float operands}}
  %0 = tile.unary exp %x : i32 -> i32
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error @+1 {{'tile.unary' op result is 'f32'; it must be 'i1'}}
  %0 = tile.unary isnan %x : f32 -> f32
  return
}
// -----
func.func @f(%x: i32, %y: i64) {
  // expected-error @+1 {{'tile.binary' op add got int32 and int64; they must have one type}}
  %0 = tile.binary add %x, %y : i32, i64 -> i64
  return
}
// -----
func.func @f(%x: i32) {
  // expected-error @+1 {{'tile.binary' op div got int32; it takes float, complex operands}}
  %0 = tile.binary div %x, %x : i32, i32 -> i32
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error @+1 {{'tile.binary' op flag_zero on mod of float32; it is for integer divisions}}
  %0 = tile.binary mod %x, %x {flag_zero} : f32, f32 -> f32
  return
}
// -----
func.func @f(%x: f16) {
  // expected-error @+1 {{'tile.binary' op complex got float16 parts; it takes float32 or float64}}
  %0 = tile.binary complex %x, %x : f16, f16 -> complex<f32>
  return
}
// -----
func.func @f(%x: i32) {
  // expected-error @+1 {{'tile.fma' op fma got int32; it takes float operands}}
  %0 = tile.fma %x, %x, %x : i32
  return
}
// -----
func.func @f(%x: complex<f32>) {
  // expected-error @+1 {{'tile.compare' op lt got complex64; complex numbers take eq and ne only}}
  %0 = tile.compare lt %x, %x : complex<f32> -> i1
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.compare' op result is 'tensor<4xi8>'; it must be 'tensor<4xi1>'}}
  %0 = tile.compare lt %x, %x : tensor<4xf32> -> tensor<4xi8>
  return
}
// -----
func.func @f(%c: tensor<2xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.select' op condition of select is bool[2]; it must be a bool scalar or a bool tile of [4]}}
  %0 = tile.select %c, %x, %x : tensor<2xi1>, tensor<4xf32>
  return
}
// -----
func.func @f(%c: i8, %x: f32) {
  // expected-error @+1 {{'tile.select' op condition of select is int8; it must be a bool scalar or a bool tile of []}}
  %0 = tile.select %c, %x, %x : i8, f32
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error @+1 {{'tile.cast' op cast of float32 to its own dtype; use the value itself}}
  %0 = tile.cast wrap %x : f32 -> f32
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.cast' op result is 'tensor<8xi32>'; it must be 'tensor<4xi32>'}}
  %0 = tile.cast wrap %x : tensor<4xf32> -> tensor<8xi32>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error @+1 {{'tile.bitcast' op bitcast from float32 to int64; both elements must have one size}}
  %0 = tile.bitcast %x : f32 -> i64
  return
}
// -----
func.func @f(%x: i8) {
  // expected-error @+1 {{'tile.bitcast' op bitcast from int8 to bool; bool takes cast only}}
  %0 = tile.bitcast %x : i8 -> i1
  return
}
// -----
func.func @f(%x: tensor<4xi4>) {
  // expected-error @+1 {{'tile.unary' op operand #0 must be scalar or tile}}
  %0 = tile.unary neg %x : tensor<4xi4> -> tensor<4xi4>
  return
}
