#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A warm page through CGI against an empty CGI program and the HTTP door: run.sh BUILD [ROUNDS]
exec python3 "$(dirname "$0")/run.py" "$@"
