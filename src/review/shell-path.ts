import { homedir } from 'node:os'

/**
 * Writes a path of a POSIX shell as this system does: `~` is the home folder, and the shell of Git for Windows says `/c/shop`
 * for `C:\shop`.
 *
 * @example systemPath('/c/shop', 'win32') // 'C:/shop'
 */
export function systemPath(path: string, platform: NodeJS.Platform = process.platform, home = homedir()): string {
  const whole = path.replace(/^~(?=\/|$)/, () => home)
  if (platform !== 'win32') return whole
  return whole.replace(/^\/([a-z])(?=\/|$)\/?/i, (_, drive: string) => `${drive.toUpperCase()}:/`)
}
