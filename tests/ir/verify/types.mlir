// What a view type must be.
// RUN: epi-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a view needs one stride and one divisor for each of its 2 axes}}
func.func @f(%x: !tile.view<?x?xf32, strides = [1], div = [1, 1], align = 4, alias = 0>) { return }
// -----
// expected-error @+1 {{a view's element is 'i4', which is not a dtype}}
func.func @f(%x: !tile.view<?xi4, strides = [1], div = [1], align = 4, alias = 0>) { return }
// -----
// expected-error @+1 {{a view's divisors must be at least 1, got 0}}
func.func @f(%x: !tile.view<?xf32, strides = [1], div = [0], align = 4, alias = 0>) { return }
// -----
// expected-error @+1 {{a view's alignment must be at least 1, got 0}}
func.func @f(%x: !tile.view<?xf32, strides = [1], div = [1], align = 0, alias = 0>) { return }
