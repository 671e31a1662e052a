# shellcheck shell=bash
# The launcher's own page.

help_page() {
  cat <<END
tools/bazel COMMAND [ARGUMENT...]   starts Bazel for this checkout, on any machine: tools/bazel test //...

Ways, the first that fits:
  BAZEL_REAL is set       hands over to that program (so bazelisk comes through this file)
  an image was built      Bazel in the air-gapped image
  the registry answers    bazelisk or bazel of this machine, else a bazelisk fetched once by checksum
  otherwise               builds the air-gapped image from Debian's packages: once, six minutes, $needed_mb MB

Environment:
  DATASET_RT_BAZEL           host or airgap: decides the way
  DATASET_RT_DEBIAN_MIRROR   mirror for the image; apt's own by default
  DATASET_RT_BUILD_EVENTS    file that \`test\` writes its build events to
  XDG_CACHE_HOME             where the cache folders are

Cache folders, each of which may be deleted:
  $cache/bazel-image-*   images, this checkout's is $recipe
  $store   actions and downloads, shared by all checkouts
  $output_root   output of each checkout, after: tools/bazel shutdown

More: tools/airgap/README.md. Bazel's own help: tools/bazel help, tools/bazel help COMMAND.
END
}
