import { win32 } from 'node:path'
import { GazewayError } from '../../src/errors.ts'

/** Characters that mean something to cmd.exe. */
const META = /[()\][%!^"`<>&|;, *?]/g

/** Start of a command as `spawn` takes it: a program with its words, or a line for cmd.exe. */
export interface SpawnedCommand {
  program: string
  words: readonly string[]
  shell: boolean
}

/**
 * Finds how Windows starts a command. What npm installs, such as npx, are batch files, which cmd.exe alone can start; it
 * gets them as a line in which no character of a word means anything to it. Programs are started without it.
 *
 * @param env with `PATH` and `PATHEXT`
 * @param exists tells whether there is a file
 * @throws GazewayError `config_invalid` for a line break in a word for a batch file, where cmd.exe would stop reading
 */
export function windowsCommand(
  [program = '', ...words]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): SpawnedCommand {
  const file = fileOf(program, env, exists)
  if (file === null || !/\.(cmd|bat)$/i.test(file)) return { program: file ?? program, words, shell: false }
  if (words.some((word) => /[\r\n]/.test(word)))
    throw new GazewayError('config_invalid', `${program} is a batch file, which gets no word with a line break.`, {
      param: '--',
    })
  // The batch file passes its words on, and they are read a second time then.
  const line = [file.replace(META, '^$&'), ...words.map((word) => escaped(escaped(quoted(word))))].join(' ')
  return { program: line, words: [], shell: true }
}

/** File that a program's name stands for, as cmd.exe finds it. Null where there is none. */
function fileOf(
  program: string,
  { PATH = '', PATHEXT = '.COM;.EXE;.BAT;.CMD' }: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string | null {
  const folders = /[\\/]/.test(program) ? [''] : PATH.split(';').filter(Boolean)
  const ends = [...(win32.extname(program) === '' ? [] : ['']), ...PATHEXT.split(';').filter(Boolean)]
  const files = folders.flatMap((folder) => ends.map((end) => win32.join(folder, program + end)))
  return files.find(exists) ?? null
}

/** A word as programs of Windows read it: in quotes, with backslashes doubled where a quote follows them. */
const quoted = (word: string): string => `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`

const escaped = (word: string): string => word.replace(META, '^$&')
