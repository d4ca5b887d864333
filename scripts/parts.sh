# Runs the parts of a test run, some of them in parallel, and prints how long each took. Source this file.
#
#   part NAME COMMAND…   runs a command, and prints its last lines at the end, or all of its output if it failed
#   lane COMMAND…        runs a function of parts in the background; it ends at the first part that fails
#   join_lanes           waits for the lanes; fails if a part failed in one of them
#
# A script that runs as a part of another one adds its parts to that one's table, which is printed at the end.

lanes=()

if [ -z "${ASSAY_PARTS:-}" ]; then
    ASSAY_PARTS=$(mktemp -d)
    export ASSAY_PARTS
    trap end_of_parts EXIT
fi

part() {
    local name=$1 log status=0 started=$EPOCHSECONDS
    shift
    log=$(mktemp -p "$ASSAY_PARTS")
    "$@" >"$log" 2>&1 </dev/null || status=$?
    local seconds=$((EPOCHSECONDS - started))
    printf '%s\t%s\t%s\t%s\n' "$started" "$seconds" "$status" "$name" >>"$ASSAY_PARTS/table"
    (
        flock 9
        printf '== %s: %s s\n' "$name" "$seconds"
        if [ $status = 0 ]; then tail -n 4 "$log"; else cat "$log"; echo "== $name failed (exit code $status)"; fi
    ) 9>"$ASSAY_PARTS/lock"
    return $status
}

lane() {
    ("$@") &
    lanes+=($!)
}

join_lanes() {
    local each failed=
    for each in "${lanes[@]}"; do wait "$each" || failed=yes; done
    lanes=()
    [ -z "$failed" ]
}

# Ends a process and its children.
end_process() {
    local child
    for child in $(pgrep -P "$1"); do end_process "$child"; done
    kill "$1" 2>/dev/null || true
}

end_of_parts() {
    local status=$? each
    trap - EXIT
    for each in "${lanes[@]}"; do end_process "$each"; done
    if [ -s "$ASSAY_PARTS/table" ]; then
        local first
        first=$(cut -f1 "$ASSAY_PARTS/table" | sort -n | head -n 1)
        echo
        echo "  from  seconds  part"
        sort -n "$ASSAY_PARTS/table" | while IFS=$'\t' read -r started seconds code name; do
            printf '%6d  %7d  %s%s\n' $((started - first)) "$seconds" "$name" "$([ "$code" = 0 ] || echo ": failed")"
        done
        printf '%6s  %7d  %s\n' "" $((EPOCHSECONDS - first)) "in all"
    fi
    rm -rf "$ASSAY_PARTS"
    exit $status
}
