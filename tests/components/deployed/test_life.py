import pytest

from .conftest import Deployed

pytestmark = pytest.mark.engine


def test_explore(deployed: Deployed):
    deployed.write()
    deployed.program.up("--message", "first")
    print()
    r = []
    r.append(deployed.run("status"))
    deployed.write(image=1, worker={"variables": {"SLEEP_AFTER": "5m"}})
    deployed.program.up()
    r.append(deployed.run("status"))
    r.append(deployed.run("status", "--format", "json"))
    r.append(deployed.run("drift"))
    r.append(deployed.run("rollback", "--list"))
    r.append(deployed.run("rollback"))
    r.append(deployed.run("rollback", "--yes"))
    r.append(deployed.run("status"))
    r.append(deployed.run("drift"))
    r.append(deployed.run("rollback", "--list"))
    r.append((deployed.state("ContainerApplication")["inputs"],))
    r.append(deployed.run("key", "rotate", "--id", "team"))
    r.append(((deployed.program.project.folder / "Pulumi.test.yaml").read_text(),))
    r.append(deployed.run("key", "rotate", "--id", "team"))
    r.append(deployed.run("key", "rotate", "--id", "team", "--finish"))
    r.append(((deployed.program.project.folder / "Pulumi.test.yaml").read_text(),))
    for each in r:
        for x in each:
            print(x)
