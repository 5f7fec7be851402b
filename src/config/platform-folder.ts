import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'

/**
 * Finds the platform's data folder for `gazeway`, absolute. An empty or relative variable counts as unset, as the XDG
 * base directory specification has it.
 *
 * @throws SystemError when the user has no home folder
 */
export function platformFolder(
  platform: string = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
  home: string = homedir(),
): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'gazeway')
  const { join, isAbsolute } = platform === 'win32' ? win32 : posix
  const below = (variable: string | undefined, ...usual: string[]) =>
    variable && isAbsolute(variable) ? variable : join(home, ...usual)
  if (platform === 'win32') return join(below(env.LOCALAPPDATA, 'AppData', 'Local'), 'gazeway', 'Data')
  return join(below(env.XDG_DATA_HOME, '.local', 'share'), 'gazeway')
}
