# shellcheck shell=bash
# Functions of ./heddle test, which select and run tests. The heddle command sources this file.

# Prints the folder of the module that contains the test class $1, or nothing.
module_of_class() {
  local file
  file=$(cd "$root" && find . \( -name target -o -name .build -o -name .git \) -prune -o \
    -path '*/src/test/java/*' -name "$1.java" -print -quit)
  file=${file#./}
  printf '%s' "${file%%/src/test/java/*}"
}

# Prints the test classes of the module in folder $1, separated by commas. Packages wouldn't do: two modules may have
# tests of one package.
tests_of() {
  (cd "$1" && find src -path 'src/test/java/*' -name '*Test.java' -printf '%P\n') | sed 's|^test/java/||; s|\.java$||' | sort |
    paste -sd,
}

# Sets `selection` to Maven's options for the tests named $1: a module, a class (CLASS#METHOD too), or a C program of native/test.
select_tests() {
  local name=${1%/} module
  if [[ $name == native || $name == native/test ]]; then
    selection=(-pl native/test -am -DskipTests -Dnative.tests.skipped=false)
    return 0
  elif [[ $name == perf-tests ]]; then
    selection=(-pl perf-tests -am -DskipTests -Dstandin.tests.skipped=false)
    return 0
  elif [[ -f $root/$name/pom.xml ]]; then
    selection=(-pl "$name" -am "-Dtest=$(tests_of "$root/$name")" -Dsurefire.failIfNoSpecifiedTests=false)
    return 0
  fi
  module=$(module_of_class "${name%%#*}")
  if [[ -n $module ]]; then
    selection=(-pl "$module" -am "-Dtest=$name" -Dsurefire.failIfNoSpecifiedTests=false)
  elif [[ -f $root/native/test/$name.c || -f $root/native/test/guest/$name.c || -f $root/native/test/guest/$name.py ]]; then
    selection=(-pl native/test -am -DskipTests -Dnative.tests.skipped=false -Dctest.selection=--tests-regex
      "-Dctest.selected=$name")
  else
    fail "no module, test class or program of native/test is named $name; modules are folders, such as transport-core"
  fi
}

install_for_tests() {
  require_packages
  install_guest_packages
  install_test_packages
  install_prometheus
  (install_lab_packages --frr --speakers) || say "tests on fabrics of routers will be skipped"
}

run_tests() {
  local kind=usual clean='' name='' selection=() word
  for word in "$@"; do
    case $word in
      --system) kind=system ;;
      --whole) kind=whole ;;
      --clean) clean=yes ;;
      -*) fail "test has no option $word; it has --system, --whole and --clean" ;;
      *)
        [[ -z $name ]] || fail "test takes one module or class at most"
        name=$word
        ;;
    esac
  done
  [[ -z $name || $kind != system ]] || fail "--system selects tests itself; leave out $name or --system"
  if [[ -n $name ]]; then
    select_tests "$name"
    require_packages
  else
    install_for_tests
    case $kind in
      usual) selection=(-DexcludedGroups=system -Dctest.selected=system) ;;
      system)
        # The stand-in's own test programs belong to the tests without --system.
        selection=(-Dgroups=system -Dsurefire.failIfNoTests=false -Dctest.selection=--label-regex -Dctest.selected=system
          -Dstandin.tests.skipped=true)
        ;;
    esac
  fi
  case $kind in
    whole) selection+=(-Dheddle.test.whole=true) ;;
    # Two modules at a time: unit tests wait for timers and peers half of their time. CI runs one, beside nothing else.
    usual) [[ -n ${CI:-} ]] || selection+=(--threads 2) ;;
  esac
  # Without -Dquick the build runs Error Prone and NullAway, which take longer than compiling. Only CI and --whole do
  # so. They also let Java's second compiler work, which most tests end too soon to gain from.
  [[ -n ${CI:-} || $kind == whole ]] || selection+=(-Dquick "-Djava.test.jvm=-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
  mkdir -p "$state"
  local log=$state/test.log status=0 began=$SECONDS
  say "testing ${name:-$kind tests} (log: $log)"
  if [[ -n $clean ]]; then
    rm -rf -- "$root"/target "$root"/*/target "$root"/*/*/target "$stamp"
  else
    # Without this, reports of an earlier run would be counted too.
    rm -rf -- "$root"/*/target/{surefire,ctest}-reports "$root"/*/*/target/{surefire,ctest}-reports
  fi
  installed_extras >"$stamp.new"
  # A failed test must not prevent the tests of other modules. 8 is ctest's exit status for failed tests.
  run_maven verify "${selection[@]}" -Dmaven.test.failure.ignore=true -Dctest.failure=8 --fail-at-end 2>&1 | tee "$log" |
    sed -nu 's/^\[INFO\] Building \(Heddle .*[^ ]\) 0.*/heddle: \1/p; s/^\[INFO\] Building \(Heddle [^ ]*\) .*/heddle: \1/p;
      /Tests run:.*Time elapsed/{s/^\[[A-Z]*\] //;p}; /Test *#[0-9]*:/p; /BUILD FAILURE/p; s/^\[ERROR\] *\(Failed to execute.*\)/\1/p' ||
    status=${PIPESTATUS[0]}
  ((status != 0)) || [[ -n $name ]] || mv "$stamp.new" "$stamp"
  say "took $((SECONDS - began)) s"
  "$java_home/bin/java" "$root/config/TestSummary.java" "$root" "$status" "$log"
}
