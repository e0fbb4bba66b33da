#!/bin/sh
# Install Bascule for this user from this checkout, and start it as a service. Needs no root; run again to update.
#   ./install.sh                the program in ~/.local/share/bascule, `bascule` in ~/.local/bin, the service
#   ./install.sh --no-service   the program alone
#   ./install.sh --uninstall    remove both; sessions and settings stay
set -eu
cd "$(dirname "$0")"

say() { echo "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

service=yes
action=install
for word in "$@"; do
    case $word in
        --no-service) service=no ;;
        --uninstall) action=uninstall ;;
        *) sed -n '2,5s/^# *//p' "$0"; [ "$word" = --help ] && exit 0; exit 2 ;;
    esac
done

[ -z "${SUDO_USER:-}" ] || fail 'Run this as yourself, without sudo: it installs for one user and needs no root.'
data=${XDG_DATA_HOME:-$HOME/.local/share}/bascule
venv=$data/venv
command=$HOME/.local/bin/bascule

if [ "$action" = uninstall ]; then
    if [ -x "$venv/bin/bascule" ]; then
        # Without the service's own manager there can be no service to stop.
        "$venv/bin/bascule" service uninstall || say 'The service could not be removed; see above.'
    fi
    rm -rf "$venv"
    [ "$(readlink "$command" 2>/dev/null)" = "$venv/bin/bascule" ] && rm -f "$command"
    rmdir "$data" 2>/dev/null || :
    say 'Bascule was removed. Its sessions are in ~/.local/state/bascule, its settings in ~/.config/bascule.'
    exit 0
fi

if [ ! -f src/bascule/web/bundle/manifest.json ] && ! command -v npm >/dev/null 2>&1; then
    fail 'The page is built with npm, which is not installed (Debian: sudo apt install npm). It is not needed later.'
fi
if [ -e "$command" ] && [ "$(readlink "$command" 2>/dev/null)" != "$venv/bin/bascule" ]; then
    fail "$command is another program; move it away first."
fi

mkdir -p "$data" "$(dirname "$command")"
[ -x "$venv/bin/python" ] || sh .ci/venv "$venv"
say 'Installing ...'
# As in the Makefile: the lock lists every package, and nothing else is trusted.
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1
"$venv/bin/python" -m pip install -qq --no-deps --require-hashes -r requirements/run.txt
"$venv/bin/python" -m pip install -qq --no-deps --no-build-isolation --force-reinstall .
ln -sf "$venv/bin/bascule" "$command"
say "Installed: $command"
case ":$PATH:" in
    *":$HOME/.local/bin:"*) ;;
    *) say "$HOME/.local/bin is not in your PATH; add it to your shell's settings." ;;
esac
if [ "$service" = yes ]; then
    exec "$command" service install --restart
fi
say 'Start it with: bascule'
