# Compiles the modules without external dependencies, and programs that use them, with swiftc: SwiftPM can't link
# programs whose main function is libFuzzer's. Source this file from the root of the repository. It compiles only what
# is older than its sources.
#
#   products=DIRECTORY; sanitizers=(-sanitize=…); build_rooms; build_program NAME SOURCE…

# The folders that need no more than the C libraries, each with its module.
rooms=(Bytes OpenSSL JOSE IDToken HTTP/Host OAuth/Messages Verification/Gateways)

# The same flags as in Package.swift.
flags=(-swift-version 6 -strict-memory-safety -package-name assay ${ASSAY_STRICT:+-warnings-as-errors})
while read -r feature; do
    flags+=(-enable-upcoming-feature "$feature")
done < <(sed -n 's/.*\.enableUpcomingFeature("\(.*\)").*/\1/p' Package.swift)

compile() {
    swiftc -O -gline-tables-only -wmo -parse-as-library "${flags[@]}" "${sanitizers[@]}" \
        -I "$products" -I Sources/C/COpenSSL -I Sources/C/CJansson -I Fuzz/Leaks/CMalloc "$@"
}

# Whether a product is missing, or older than one of these files and folders.
is_old() {
    local product=$1
    shift
    set -- "$@" "$(command -v swiftc)" Fuzz/build.sh Package.swift
    [ ! -e "$product" ] || [ -n "$(find -L "$@" -newer "$product" -print -quit)" ]
}

build_rooms() {
    local room module sources folders
    objects=()
    mkdir -p "$products"
    for room in "${rooms[@]}"; do
        module=${room%%/*}
        # Recompiled also if a module that it may import was.
        if is_old "$products/$module.o" "Sources/$room" Sources/C "${objects[@]}"; then
            echo "compiling $room"
            # What other files of the room name, and no target uses.
            folders=("Sources/$room")
            if [ -d "Fuzz/StandIns/$module" ]; then folders+=("Fuzz/StandIns/$module"); fi
            mapfile -t sources < <(find "${folders[@]}" -name '*.swift')
            compile -module-name "$module" -emit-module -emit-module-path "$products/$module.swiftmodule" \
                -emit-object -o "$products/$module.o" "${sources[@]}"
            # The compiler does not rewrite an unchanged product.
            touch "$products/$module.o"
        fi
        objects+=("$products/$module.o")
    done
}

build_program() {
    local name=$1
    shift
    if is_old "$products/$name" "$@" "${objects[@]}"; then
        echo "compiling $name"
        # In a separate folder and under another module name: a target may have the name of the module it tests.
        mkdir -p "$products/programs"
        compile -use-ld=lld -module-name Program -emit-module-path "$products/programs/$name.swiftmodule" \
            -emit-executable -o "$products/$name" "$@" "${objects[@]}"
    fi
}
