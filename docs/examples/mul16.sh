#!/bin/sh
# Tests mul16.asm from a shell. HW_TESTS is the program, if it is not on the path.
set -eu
cd "$(dirname "$0")"

# check REPLY CALL: the reply to a call must contain the text
check() {
    reply=$(echo "$2" | "${HW_TESTS:-hw-tests}" call mul16.asm)
    case $reply in
    *'"findings":[]'*"$1"*) echo "ok    $2" ;;
    *)
        echo "FAIL  $2: expected $1, got $reply"
        exit 1
        ;;
    esac
}

check '"out":{"HL":21}' '{"call": "MUL16", "in": {"BC": 3, "DE": 7}, "outputs": ["HL"]}'
check '"out":{"DE":1,"HL":0}' \
    '{"call": "MUL16", "in": {"BC": "100H", "DE": "100H"}, "outputs": ["DE", "HL"]}'
