"""Write kinds.td, the dialect's enum attributes, from src/epi/ir/kinds.def.  usage: gen_kinds.py kinds.def kinds.td"""

import re
import sys

NAMES = {
    "UNARY": "UnaryKind",
    "BINARY": "BinaryKind",
    "COMPARE": "CompareKind",
    "COMBINE": "CombineKind",
    "CAST": "CastMode",
    "ATOMIC": "AtomicKind",
    "ORDER": "MemoryOrder",
    "SCOPE": "MemoryScope",
}


def render(text: str) -> str:
    """The TableGen text of every enum in `text`, in the order of its rows."""
    rows: dict[str, list[str]] = {name: [] for name in NAMES}
    for group, name in re.findall(r"^EPI_(\w+)\((\w+)", text, re.M):
        rows[group].append(name)
    out = ["// Written by tools/gen_kinds.py from kinds.def; do not edit.\n"]
    for group, cases in rows.items():
        enum = NAMES[group]
        cased = ", ".join(f'I32EnumAttrCase<"k_{c}", {i}, "{c}">' for i, c in enumerate(cases))
        out.append(
            f'def Tile_{enum} : I32EnumAttr<"{enum}", "{group.lower()} kinds", [{cased}]> {{\n'
            f'  let cppNamespace = "::epi::tile";\n  let genSpecializedAttr = 0;\n}}\n'
            f'def Tile_{enum}Attr : EnumAttr<Tile_Dialect, Tile_{enum}, "{group.lower()}">;\n'
        )
    return "\n".join(out)


if __name__ == "__main__":
    with open(sys.argv[1]) as source, open(sys.argv[2], "w") as target:
        target.write(render(source.read()))
