# shellcheck shell=sh
# busybox httpd runs what is in cgi-bin below its folder; the environment is passed on.
FATHOM_ROOT=@ROOT@ FATHOM_RUNTIME=@FOLDER@/run \
    busybox httpd -f -p 127.0.0.1:@PORT@ -h @FOLDER@
