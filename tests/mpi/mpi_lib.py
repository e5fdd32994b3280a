# SPDX-License-Identifier: Apache-2.0
"""mpirun for tests: more processes than processors, as root too."""
import os
import shutil
import subprocess

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
MISSING = "OpenMPI is not installed (libopenmpi-dev, openmpi-bin)"


def is_installed():
    return shutil.which("mpicc") is not None and shutil.which("mpirun") is not None


def command(count, *words):
    return ["mpirun", "--oversubscribe", "-n", str(count), *map(str, words)]


def run(count, *words, folder=None, env=None):
    return subprocess.run(command(count, *words), cwd=folder, env=env or ENVIRONMENT, text=True,
                          capture_output=True, timeout=300, check=False)
