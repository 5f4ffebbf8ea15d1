#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# release_test.sh SOURCE_DIR   scripts/release in a temporary clone of the tree, with a stand-in for
#                              scripts/test, and scripts/check-abi without its self-test: both have
#                              tests of their own.
set -euo pipefail
source_dir=$1

if ! git -c safe.directory='*' -C "$source_dir" rev-parse HEAD >/dev/null 2>&1; then
    echo "SKIP_: the source tree is no clone of the repository"
    exit 77
fi
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_COUNT=3
export GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
export GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=test GIT_CONFIG_KEY_2=user.email \
    GIT_CONFIG_VALUE_2=test@localhost
export CC=${CC-cc}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone -q --no-tags --depth 1 "file://$source_dir" "$folder/clone"
cd "$folder/clone"
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# refused NAME TEXT [OPTION...]: the release fails with the text and creates neither a tag nor a
# file; restores the clone.
refused() {
    local output
    ! output=$(scripts/release "${@:3}" "$folder/dist" 2>&1) || fail "$1 was released: $output"
    grep -qF -- "$2" <<<"$output" || fail "$1: instead of \"$2\": $output"
    [[ -z $(git tag) ]] || fail "$1: there is a tag"
    [[ ! -e $folder/dist ]] || fail "$1: the folder is not empty"
    git reset -q --hard "$good" && git clean -qfd
    passed=$((passed + 1))
}
commit() { git commit -q --all --message "$1"; }
passed=0

# A tree that is ready. The release script is the source tree's, committed or not.
cp "$source_dir/scripts/release" scripts/release
mv scripts/check-abi scripts/check-abi-itself
printf '#!/bin/sh\nexec "$(dirname "$0")/check-abi-itself" --headers\n' >scripts/check-abi
printf '#!/bin/sh\necho "1 passed, 0 failed, 0 skipped"\n' >scripts/test
chmod +x scripts/check-abi scripts/test
sed -i 's/^#define PI_VERSION_DRAFT .*/#define PI_VERSION_DRAFT 0/' api/include/pi/pi.h
rm -f conformance/abi/draft.txt
version_of() { sed -n "s/^#define PI_VERSION_$1 //p" api/include/pi/pi.h; }
version=$(version_of MAJOR).$(version_of MINOR).0
sed -i "0,/^ *VERSION [0-9.]*$/s/VERSION [0-9.]*$/VERSION $version/" CMakeLists.txt
sed -i "s/^__version__ = .*/__version__ = \"$version\"/" bindings/python/pi_runtime/__init__.py
text="- What is new in this version, for the test."
printf '# Changelog\n\n## [Unreleased]\n\n## [%s] - 2030-01-31\n\n### Added\n\n%s\n\n## [0.0.1] - 2020-01-01\n\nOld.\n' \
    "$version" "$text" >CHANGELOG.md
git add --all
commit "Ready"
good=$(git rev-parse HEAD)

echo >>README.md
refused "what is not committed" "README.md"
touch a_new_file
refused "a file that git does not know" "a_new_file"

sed -i "s/\[$version\] - 2030-01-31/[$version]/" CHANGELOG.md && commit "no date"
refused "a version without a date" \
    "the first version of CHANGELOG.md should be \"## [$version] - YEAR-MONTH-DAY\""
sed -i "s/^## \[$version\]/## [99.0.0]/" CHANGELOG.md && commit "another"
refused "another version in CHANGELOG.md" "## [99.0.0]"
sed -i "s/^## \[Unreleased\]/&\n\n- Forgotten./" CHANGELOG.md && commit "unreleased"
refused "lines that are unreleased" "has lines under [Unreleased]"
sed -i "/^### Added/d; /^$text/d" CHANGELOG.md && commit "empty"
refused "an empty section" "CHANGELOG.md: the section of $version is empty"
sed -i 's/^#define PI_VERSION_MINOR .*/#define PI_VERSION_MINOR 77/' api/include/pi/pi.h &&
    commit "minor"
refused "another version in pi.h" "pi.h of ${version%%.*}.77"
sed -i 's/^#define PI_VERSION_DRAFT .*/#define PI_VERSION_DRAFT 3/' api/include/pi/pi.h &&
    commit "draft"
refused "a draft" "PI_VERSION_DRAFT should be 0"
sed -i "s/^## \[Unreleased\]/&\n\n- Forgotten./" CHANGELOG.md && echo >>README.md
refused "two mistakes" "2 to be put right"

sed -i 's/^\( *PI_SUCCESS = \)0,/\11,/' api/include/pi/pi.h && ! git diff --quiet ||
    fail "pi.h was not changed"
commit "ABI"
refused "headers that break the ABI" "do not keep the frozen ABI"
printf '#!/bin/sh\necho "0 passed, 1 failed, 0 skipped"; exit 1\n' >scripts/test && commit "red"
refused "tests that are red" "the tests are not green"
printf '#!/bin/sh\ntouch left_behind\n' >scripts/test && commit "tests that leave something"
refused "tests that change the tree" "left_behind"
refused "an option that there is not" "usage:" --dry

output=$(scripts/release --dry-run "$folder/dist")
grep -qF "would make the tag v$version" <<<"$output" || fail "output of a dry run: $output"
[[ -z $(git tag) && ! -e $folder/dist ]] || fail "a dry run created something"

output=$(scripts/release "$folder/dist")
grep -qF "git push origin v$version" <<<"$output" || fail "the next steps are missing: $output"
[[ $(git cat-file -t "v$version") == tag ]] || fail "the tag is not annotated"
[[ $(git rev-parse "v$version^{commit}") == "$good" ]] || fail "the tag is of another commit"
git tag --list --format='%(contents)' "v$version" | grep -qF -- "$text" ||
    fail "the tag does not have the text of CHANGELOG.md"
(cd "$folder/dist" && sha256sum --quiet --check "pi-$version.tar.gz.sha256") ||
    fail "the checksum is wrong"
[[ $(find "$folder/dist" -mindepth 1 | wc -l) == 3 ]] ||
    fail "the folder holds $(ls -A "$folder/dist")"
diff <(tar -tzf "$folder/dist/pi-$version.tar.gz" | grep -v '/$' | sort) \
    <(git ls-files | sed "s|^|pi-$version/|" | sort) ||
    fail "the archive has other files than the commit"
grep -qF -- "$text" "$folder/dist/pi-$version.md" && ! grep -q Old "$folder/dist/pi-$version.md" ||
    fail "the text is not the version's"
[[ -z $(git status --porcelain) ]] || fail "the release left something: $(git status --porcelain)"

! output=$(scripts/release "$folder/dist" 2>&1) || fail "one version was released twice"
grep -qF "the tag v$version is there already" <<<"$output" ||
    fail "output of a second release: $output"

# A commit's archive is always the same.
git tag --delete "v$version" >/dev/null
scripts/release "$folder/again" >/dev/null
cmp "$folder/dist/pi-$version.tar.gz" "$folder/again/pi-$version.tar.gz" ||
    fail "the archive differs the second time"
echo "release: $passed refusals and the release are as they should be"
