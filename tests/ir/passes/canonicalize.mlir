// The list as a whole: what a front end writes for y[pid * 4 : ] = x[pid * 4 : ] twice over becomes one of each.
// RUN: epi-opt %s --canonicalize | FileCheck %s
// RUN: epi-opt %s --canonicalize --canonicalize > %t.2 && epi-opt %s --canonicalize > %t.1 && diff %t.1 %t.2

!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
!u = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 1>
// CHECK-NOT: @offset
// CHECK-LABEL: func.func @k
// CHECK-NEXT: [[P:%.*]] = tile.program_id 0
// CHECK-NEXT: [[C:%.*]] = tile.constant(4 : i32)
// CHECK-NEXT: [[M:%.*]] = tile.binary mul [[P]], [[C]]
// CHECK-NEXT: [[O:%.*]] = tile.cast wrap [[M]]
// CHECK-NEXT: [[T:%.*]] = tile.load %arg0{{\[}}[[O]]]
// CHECK-NEXT: tile.store [[T]], %arg1{{\[}}[[O]]]
// CHECK-NEXT: return
func.func private @offset(%p: i32) -> i64 {
  %two = tile.constant(2 : i32) : i32
  %four = tile.binary mul %two, %two : i32, i32 -> i32
  %m = tile.binary mul %p, %four : i32, i32 -> i32
  %o = tile.cast wrap %m : i32 -> i64
  return %o : i64
}
func.func @k(%x: !v, %y: !u) attributes {tile.kernel} {
  %p = tile.program_id 0
  %a = func.call @offset(%p) : (i32) -> i64
  %t = tile.load %x[%a] : !v -> tensor<4xf32>
  %q = tile.program_id 0
  %b = func.call @offset(%q) : (i32) -> i64
  %unused = tile.load %x[%b] : !v -> tensor<4xf32>
  tile.store %t, %y[%b] : tensor<4xf32>, !u
  return
}
