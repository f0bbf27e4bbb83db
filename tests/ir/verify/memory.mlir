// Errors of memory ops.
// RUN: epi-opt %s --split-input-file --verify-diagnostics

!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.load' op 1 offsets for a view of float32[?, ?]; its 2 axes need one each}}
  %0 = tile.load %x[%i] : !v -> tensor<4x4xf32>
  return
}
// -----
!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.load' op 1 tile extents for a view of float32[?, ?]; its 2 axes need one each}}
  %0 = tile.load %x[%i, %i] : !v -> tensor<4xf32>
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.load' op result is 'tensor<4xf64>'; it must be 'tensor<4xf32>'}}
  %0 = tile.load %x[%i] : !v -> tensor<4xf64>
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64) {
  // expected-error @+1 {{'tile.load' op constant 1 : i32; it must be a float32 scalar}}
  %0 = tile.load %x[%i] {padding = 1 : i32} : !v -> tensor<4xf32>
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i64, %t: tensor<4xf64>) {
  // expected-error @+1 {{'tile.store' op float64[4] for a view of float32[?]; dtypes must be equal}}
  tile.store %t, %x[%i] : tensor<4xf64>, !v
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %t: tensor<4xf32>) {
  // expected-error @+1 {{'tile.store' op 0 offsets for a view of float32[?]; its 1 axes need one each}}
  tile.store %t, %x[] : tensor<4xf32>, !v
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: tensor<4xi16>) {
  // expected-error @+1 {{'tile.gather' op index is int16[4]; it must be int32 or int64 of shape [4]}}
  %0 = tile.gather %x[%i] : !v, (tensor<4xi16>) -> tensor<4xf32>
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: tensor<4xi32>, %m: tensor<8xi1>) {
  // expected-error @+1 {{'tile.gather' op mask is bool[8]; it must be bool of shape [4]}}
  %0 = tile.gather %x[%i] mask %m : !v, (tensor<4xi32>) -> tensor<4xf32>, tensor<8xi1>
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tile.gather' op constant 1.000000e+00 : f64; it must be a float32 scalar}}
  %0 = tile.gather %x[%i] {padding = 1.0 : f64} : !v, (tensor<4xi32>) -> tensor<4xf32>
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tile.scatter' op int32[4] for a view of float32[?]; dtypes must be equal}}
  tile.scatter %i, %x[%i] : tensor<4xi32>, !v, (tensor<4xi32>) -> ()
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: tensor<4xi32>, %t: tensor<8xf32>) {
  // expected-error @+1 {{'tile.scatter' op index is int32[4]; it must be int32 or int64 of shape [8]}}
  tile.scatter %t, %x[%i] : tensor<8xf32>, !v, (tensor<4xi32>) -> ()
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i32, %t: f32) {
  // expected-error @+1 {{'tile.atomic_rmw' op bitand of float32; add, minimum and maximum take integers and floats, bit operations integers, exchange anything but bool of at most 8 bytes}}
  %0 = tile.atomic_rmw bitand acq_rel device %t, %x[%i] : f32, !v, (i32) -> f32
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i32, %t: f32) {
  // expected-error @+1 {{'tile.atomic_rmw' op order weak; an atomic access is relaxed, acquire, release or acq_rel}}
  %0 = tile.atomic_rmw add weak device %t, %x[%i] : f32, !v, (i32) -> f32
  return
}
// -----
!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i32, %t: tensor<4xf32>) {
  // expected-error @+1 {{'tile.atomic_rmw' op value is float32[4]; it must have the indices' shape []}}
  %0 = tile.atomic_rmw add acq_rel device %t, %x[%i] : tensor<4xf32>, !v, (i32) -> f32
  return
}
// -----
!v = !tile.view<?xcomplex<f64>, strides = [1], div = [1], align = 16, alias = 0>
func.func @f(%x: !v, %i: i32, %t: complex<f64>) {
  // expected-error @+1 {{'tile.atomic_cas' op compare-and-swap of complex128; it takes anything but bool of at most 8 bytes}}
  %0 = tile.atomic_cas acq_rel device %t, %t, %x[%i] : complex<f64>, complex<f64>, !v, (i32) -> complex<f64>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tile.fence' op order relaxed orders nothing; it must be acquire, release or acq_rel}}
  tile.fence relaxed device
  return
}
