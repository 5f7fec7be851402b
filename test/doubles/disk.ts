import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import type { TestContext } from 'node:test'

/** Tells whether this process may mount disks: as root with CAP_SYS_ADMIN, on Linux. */
export function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

/** Mounts a small disk at a new folder until a test ends. @param options of the mount, such as `size=2m` or `ro` */
export function mountDisk(t: TestContext, folder: string, options: string): void {
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=700,${options}`, 'none', folder])
  t.after(() => execFileSync('umount', ['-l', folder]))
}
