// Scalar integer arithmetic on constants is computed by the rules of docs/design/semantics.md; identities vanish.
// RUN: epi-opt %s --fold-constants --erase-dead | FileCheck %s

func.func private @use(i32, i32, i32, i32)

// CHECK-LABEL: func.func @division
// CHECK-DAG: [[M3:%.*]] = tile.constant(-3 : i32)
// CHECK-DAG: [[P1:%.*]] = tile.constant(1 : i32)
// CHECK-DAG: [[M2:%.*]] = tile.constant(-2 : i32)
// CHECK-DAG: [[M1:%.*]] = tile.constant(-1 : i32)
// CHECK: call @use([[M3]], [[P1]], [[M2]], [[M1]])
func.func @division() {
  %a = tile.constant(-5 : i32) : i32
  %b = tile.constant(2 : i32) : i32
  %0 = tile.binary floordiv %a, %b : i32, i32 -> i32
  %1 = tile.binary mod %a, %b : i32, i32 -> i32
  %2 = tile.binary truncdiv %a, %b : i32, i32 -> i32
  %3 = tile.binary rem %a, %b : i32, i32 -> i32
  func.call @use(%0, %1, %2, %3) : (i32, i32, i32, i32) -> ()
  return
}

// By zero: 0. The least value over -1: itself, rest 0.
// CHECK-LABEL: func.func @division_edges
// CHECK-DAG: [[Z:%.*]] = tile.constant(0 : i32)
// CHECK-DAG: [[MIN:%.*]] = tile.constant(-2147483648 : i32)
// CHECK: call @use(
// CHECK-NOT: tile.binary
func.func @division_edges() {
  %min = tile.constant(-2147483648 : i32) : i32
  %zero = tile.constant(0 : i32) : i32
  %m1 = tile.constant(-1 : i32) : i32
  %0 = tile.binary floordiv %min, %zero : i32, i32 -> i32
  %1 = tile.binary floordiv %min, %m1 : i32, i32 -> i32
  %2 = tile.binary mod %min, %m1 : i32, i32 -> i32
  %3 = tile.binary mod %min, %zero : i32, i32 -> i32
  func.call @use(%0, %1, %2, %3) : (i32, i32, i32, i32) -> ()
  return
}

// A division that reports zero keeps its report.
// CHECK-LABEL: func.func @reported
// CHECK: tile.binary floordiv %{{.*}}, %{{.*}} {flag_zero}
func.func @reported(%x: i32) -> i32 {
  %zero = tile.constant(0 : i32) : i32
  %0 = tile.binary floordiv %x, %zero {flag_zero} : i32, i32 -> i32
  return %0 : i32
}

// CHECK-LABEL: func.func @shifts
// CHECK-DAG: [[Z:%.*]] = tile.constant(0 : i32)
// CHECK-DAG: [[M1:%.*]] = tile.constant(-1 : i32)
// CHECK-DAG: [[M8:%.*]] = tile.constant(-8 : i32)
// CHECK: call @use([[Z2:%.*]], [[M1]], {{.*}}, [[M8]])
func.func @shifts() {
  %a = tile.constant(-4 : i32) : i32
  %wide = tile.constant(32 : i32) : i32
  %minus = tile.constant(-1 : i32) : i32
  %one = tile.constant(1 : i32) : i32
  %0 = tile.binary shl %a, %wide : i32, i32 -> i32
  %1 = tile.binary shr %a, %wide : i32, i32 -> i32
  %2 = tile.binary shl %a, %minus : i32, i32 -> i32
  %3 = tile.binary shl %a, %one : i32, i32 -> i32
  func.call @use(%0, %1, %2, %3) : (i32, i32, i32, i32) -> ()
  return
}

// CHECK-LABEL: func.func @unsigned
// CHECK: tile.constant(127 : ui8)
// CHECK-NEXT: return
func.func @unsigned() -> ui8 {
  %a = tile.constant(254 : ui8) : ui8
  %b = tile.constant(2 : ui8) : ui8
  %0 = tile.binary floordiv %a, %b : ui8, ui8 -> ui8
  return %0 : ui8
}

// CHECK-LABEL: func.func @casts
// CHECK-DAG: [[A:%.*]] = tile.constant(-56 : i8)
// CHECK-DAG: [[B:%.*]] = tile.constant(200 : i64)
// CHECK-DAG: [[C:%.*]] = tile.constant(true)
// CHECK: return [[A]], [[B]], [[C]]
func.func @casts() -> (i8, i64, i1) {
  %a = tile.constant(200 : ui8) : ui8
  %0 = tile.cast wrap %a : ui8 -> i8
  %1 = tile.cast wrap %a : ui8 -> i64
  %2 = tile.cast wrap %a : ui8 -> i1
  return %0, %1, %2 : i8, i64, i1
}

// CHECK-LABEL: func.func @identities
// CHECK-SAME: [[X:%[a-z0-9]+]]: tensor<4xi32>
// CHECK-NEXT: return [[X]]
func.func @identities(%x: tensor<4xi32>) -> tensor<4xi32> {
  %zero = tile.constant(dense<0> : tensor<4xi32>) : tensor<4xi32>
  %one = tile.constant(dense<1> : tensor<4xi32>) : tensor<4xi32>
  %0 = tile.binary add %zero, %x : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %1 = tile.binary mul %0, %one : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %2 = tile.permute %1 [0] : tensor<4xi32> -> tensor<4xi32>
  %3 = tile.reshape %2 : tensor<4xi32> -> tensor<2x2xi32>
  %4 = tile.reshape %3 : tensor<2x2xi32> -> tensor<4xi32>
  return %4 : tensor<4xi32>
}

// x + 0.0 is not x where x is -0.0: floats are left alone.
// CHECK-LABEL: func.func @floats
// CHECK: tile.binary add
func.func @floats(%x: f32) -> f32 {
  %zero = tile.constant(0.0 : f32) : f32
  %0 = tile.binary add %x, %zero : f32, f32 -> f32
  return %0 : f32
}

// CHECK-LABEL: func.func @branches
// CHECK-SAME: [[X:%[a-z0-9]+]]: f32
// CHECK-NOT: scf.if
// CHECK: [[Y:%.*]] = tile.unary neg [[X]]
// CHECK-NOT: tile.fence
// CHECK: return [[Y]]
func.func @branches(%x: f32) -> f32 {
  %a = tile.constant(3 : i32) : i32
  %b = tile.constant(4 : i32) : i32
  %c = tile.compare lt %a, %b : i32 -> i1
  %n = tile.compare gt %a, %b : i32 -> i1
  %0 = scf.if %c -> (f32) {
    %1 = tile.unary neg %x : f32 -> f32
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  scf.if %n {
    tile.fence acq_rel device
  }
  return %0 : f32
}
