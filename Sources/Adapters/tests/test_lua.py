"""Plays the vectors of held kinds of tasks against the gate in Lua, where there is a Lua: LuaJIT, as in nginx, or 5.3, as in HAProxy."""

import pathlib
import shutil
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LUAS = [found for found in map(shutil.which, ("luajit", "lua5.3", "lua5.4", "lua")) if found]


class LuaTests(unittest.TestCase):
    @unittest.skipUnless(LUAS, "there is no Lua: apt-get install luajit lua5.3")
    def test_held_kinds_of_tasks_go_when_headrooms_own_rule_lets_them(self):
        for lua in LUAS:
            played = subprocess.run([lua, HERE / "play_kinds.lua", HERE], capture_output=True, text=True)
            self.assertEqual(played.returncode, 0, f"{lua}: {played.stderr}")
            self.assertGreater(int(played.stdout), 50)


if __name__ == "__main__":
    unittest.main()
