// Errors of collectives, contraction and debug.
// RUN: epi-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op lanes is 3; it must be a power of two}}
  %0 = tile.reduce add 0 %x {lanes = 3 : i64} : tensor<4xf32> -> f32
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op axis 1 of something with 1 axes; it must be in [0, 1)}}
  %0 = tile.reduce add 1 %x : tensor<4xf32> -> f32
  return
}
// -----
func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'tile.reduce' op add got bool[4]; it takes integer, float, complex operands}}
  %0 = tile.reduce add 0 %x : tensor<4xi1> -> i1
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op add got 2 sources; several need a region}}
  %0, %1 = tile.reduce add 0 %x, %x : tensor<4xf32>, tensor<4xf32> -> f32, f32
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tile.reduce' op result is 'tensor<4xf32>'; it must be 'tensor<2xf32>'}}
  %0 = tile.reduce add 1 %x : tensor<2x4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op kind region has no region}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op add has a region; only kind region takes one}}
  %0 = tile.reduce add 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op region has 1 arguments; it must have 2, the left values and then the right ones}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32):
    tile.yield %l : f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op region argument 1 is int32; it must be float32}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %r: i32):
    tile.yield %l : f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op region yields 2 values; it must yield 1}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l, %r : f32, f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op region yields bool as value 0; it must be float32}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %c = tile.compare lt %l, %r : f32 -> i1
    tile.yield %c : i1
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op region contains tile.fence; it must be without effects on memory}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    tile.fence acq_rel device
    tile.yield %l : f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op region contains tile.broadcast on float32[4]; it works on scalars}}
  %0 = tile.reduce region 0 %x : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = tile.broadcast %l : f32 -> tensor<4xf32>
    tile.yield %l : f32
  }
  return
}
// -----
func.func @f(%x: tensor<0xf32>) {
  // expected-error @+1 {{'tile.reduce' op a region folds float32[0] along axis 0, which is empty; only a kind with an identity may}}
  %0 = tile.reduce region 0 %x : tensor<0xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op sources are float32[4] and float32[8]; they must have one shape}}
  %0, %1 = tile.reduce region 0 %x, %y : tensor<4xf32>, tensor<8xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.scan' op segment is 0; it must be at least 1}}
  %0 = tile.scan add 0 %x {segment = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.scan' op bitand got float32[4]; it takes integer, bool operands}}
  %0 = tile.scan bitand 0 %x : tensor<4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4x8xf32>, %i: tensor<2x8xi32>) {
  // expected-error @+1 {{'tile.take' op indices are int32[2, 8] for float32[4, 8] on axis 1; they must be int32 or int64 of its shape but for that axis}}
  %0 = tile.take 1 %x[%i] : tensor<4x8xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}
// -----
func.func @f(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{'tile.rank' op digits are int32[4, 8]; they must be a 1-D int32 tile}}
  %0, %1 = tile.rank %x : tensor<4x8xi32> -> tensor<4x8xi32>, tensor<16xi32>
  return
}
// -----
func.func @f(%x: tensor<8xi32>) {
  // expected-error @+1 {{'tile.rank' op result is 'tensor<16xi64>'; it must be 'tensor<16xi32>'}}
  %0, %1 = tile.rank %x : tensor<8xi32> -> tensor<8xi32>, tensor<16xi64>
  return
}
// -----
!w = !tile.view<?xi64, strides = [1], div = [1], align = 8, alias = 0>
func.func @f(%w: !w, %x: f32) {
  // expected-error @+1 {{'tile.lookback' op state is view of int64[?]; it must be a 1-D view of uint64}}
  %0 = tile.lookback add %w, %x [0.0 : f32] : !w, f32 -> f32
  return
}
// -----
!w = !tile.view<?xui64, strides = [1], div = [1], align = 8, alias = 0>
func.func @f(%w: !w, %x: f32) {
  // expected-error @+1 {{'tile.lookback' op 0 identities for 1 aggregates; one each is needed}}
  %0 = tile.lookback add %w, %x [] : !w, f32 -> f32
  return
}
// -----
!w = !tile.view<?xui64, strides = [1], div = [1], align = 8, alias = 0>
func.func @f(%w: !w, %x: f32) {
  // expected-error @+1 {{'tile.lookback' op constant 0 : i32; it must be a float32 scalar}}
  %0 = tile.lookback add %w, %x [0 : i32] : !w, f32 -> f32
  return
}
// -----
!w = !tile.view<?xui64, strides = [1], div = [1], align = 8, alias = 0>
func.func @f(%w: !w, %x: f32) attributes {tile.kernel} {
  // expected-error @+1 {{'tile.lookback' op in kernel f without tile.ascending; programs must start in ascending order}}
  %0 = tile.lookback add %w, %x [0.0 : f32] : !w, f32 -> f32
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.mma' op shapes of a, b and acc are [4, 8], [4, 8] and [4, 8]; they must be [M, K], [K, N] and [M, N]}}
  %0 = tile.mma %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x4xbf16>, %c: tensor<4x4xbf16>) {
  // expected-error @+1 {{'tile.mma' op cannot multiply bfloat16[4, 4] by bfloat16[4, 4] into bfloat16[4, 4]}}
  %0 = tile.mma %a, %a, %c : tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>
  return
}
// -----
func.func @f(%x: i32) {
  // expected-error @+1 {{'tile.assert' op condition is int32; it must be bool}}
  tile.assert %x, "no" : i32
  return
}
// -----
func.func @f(%x: i32) {
  // expected-error @+1 {{'tile.print' op format "%d %d" has 2 conversions for 1 values}}
  tile.print "%d %d" %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  // expected-error @+1 {{'tile.print' op format "%s" has a conversion that is none of d i o u x X e E f F g G a A}}
  tile.print "%s" %x : i32
  return
}
