// The tile dialect: one program's work on value-semantic tiles. No threads, no shared memory at this level.
// Control is func and scf; every other op is here, one record each.
#ifndef EPI_IR_OPS_DIALECT
#define EPI_IR_OPS_DIALECT
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::epi::tile";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

include "kinds.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

// -- types ---------------------------------------------------------------------------------------------------------
def Tile_View : TypeDef<Tile_Dialect, "View"> {
  let mnemonic = "view";
  let summary = "an array in memory: base pointer, 64-bit extents and strides (in elements)";
  let description = [{
    `!tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>`. `?` is a value known at launch. `div[i]`
    divides stride i (in elements); `align` is the base pointer's alignment in bytes; two views of different alias
    class do not overlap. All four are part of the specialisation key.
  }];
  let parameters = (ins "::mlir::Type":$element, ArrayRefParameter<"int64_t">:$extents,
                        ArrayRefParameter<"int64_t">:$strides, ArrayRefParameter<"int64_t">:$divisors,
                        "int64_t":$align, "int64_t":$alias);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return static_cast<unsigned>(getExtents().size()); }
  }];
}

def Tile_Element : AnyTypeOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64,
                              Complex<F32>, Complex<F64>], "element">;
def Tile_Tile : StaticShapeTensorOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64,
                                     Complex<F32>, Complex<F64>]>;
def Tile_Any : AnyTypeOf<[Tile_Element, Tile_Tile], "scalar or tile">;
#endif
