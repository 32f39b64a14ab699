@rem For `exec` in the scripts of package.json: Windows has no such command, and looks for one in this folder.
@%*
