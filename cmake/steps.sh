# What the setup and test scripts share: steps that say how far they are, and Debian packages. Sourced, from the clone's root; the
# script sets num_steps first.
export HOME="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}"
# The same sources in another clone hit the compiler cache too.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
export NINJA_STATUS='[%f/%t, %e s] '

step_index=0
step_name=

say() { printf '== %s\n' "$*"; }
elapsed() { printf '%d min %02d s' $((SECONDS / 60)) $((SECONDS % 60)); }

# step NAME: begins the next step.
step() {
  step_index=$((step_index + 1))
  step_name=$1
  printf '\n'
  say "step $step_index of $num_steps: $step_name (elapsed $(elapsed))"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "this needs root, and there is no sudo: $*" >&2
    return 1
  fi
}

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages GROUP...: the packages of these groups in cmake/packages.txt. Asks the network only if one is missing.
install_packages() {
  local group package missing=() num_packages=0
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian: install what cmake/packages.txt lists by your own means. Going on" >&2
    return 0
  fi
  while read -r group package; do
    [[ " $* " == *" $group "* ]] || continue
    num_packages=$((num_packages + 1))
    installed "$package" || missing+=("$package")
  done < <(grep -v '^#' cmake/packages.txt)
  if [ ${#missing[@]} = 0 ]; then
    say "all $num_packages packages are installed"
    return 0
  fi
  say "installing ${#missing[@]} of $num_packages packages: ${missing[*]}"
  if ! { as_root apt-get update -q &&
         as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; }; then
    say "apt-get could not install: ${missing[*]}" >&2
    if installed libboost1.74-dev; then
      say "libboost1.74-dev is installed and conflicts with libboost1.81-dev, which gainz needs (Boost.JSON); remove it first:" \
        "apt-get remove libboost-dev libboost1.74-dev" >&2
    fi
    return 1
  fi
}
