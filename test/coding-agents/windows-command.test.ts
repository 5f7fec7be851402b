import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { windowsCommand } from '../../adapters/command/windows-command.ts'

const ENV = { PATH: 'C:\\Program Files\\nodejs;C:\\Users\\ann\\npm;', PATHEXT: '.EXE;.CMD' }
const FILES = [
  'C:\\Program Files\\nodejs\\node.EXE',
  'C:\\Program Files\\nodejs\\npx.CMD',
  'C:\\Users\\ann\\npm\\codex.CMD',
  'C:\\Users\\ann\\npm\\node.CMD',
]
const exists = (path: string) => FILES.includes(path)
const started = (...command: string[]) => windowsCommand(command, ENV, exists)

/** Reads a line as cmd.exe does: carets outside quotes are taken away, and what ends a command is an error. */
function readByCmd(line: string): string {
  let read = ''
  let isQuoted = false
  for (let i = 0; i < line.length; i++) {
    const character = line[i] as string
    if (!isQuoted && character === '^') read += line[++i] ?? ''
    else if (!isQuoted && '&|<>'.includes(character)) throw new Error(`${character} at ${i} of ${line}`)
    else {
      if (character === '"') isQuoted = !isQuoted
      read += character
    }
  }
  return read
}

/** Splits a line as programs do (CommandLineToArgvW), the first word excepted. */
function argumentsIn(line: string): string[] {
  const words: string[] = []
  let word: string | null = null
  let isQuoted = false
  for (let i = 0; i < line.length; i++) {
    const slashes = /^\\*/.exec(line.slice(i))?.[0].length ?? 0
    if (slashes > 0) {
      const isBeforeQuote = line[i + slashes] === '"'
      word = (word ?? '') + '\\'.repeat(isBeforeQuote ? slashes >> 1 : slashes)
      i += slashes - 1
      if (!isBeforeQuote || slashes % 2 === 0) continue
      word += '"'
      i++
    } else if (line[i] === '"') {
      isQuoted = !isQuoted
      word ??= ''
    } else if (line[i] === ' ' && !isQuoted) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + line[i]
  }
  return word === null ? words : [...words, word]
}

describe('a command on Windows', () => {
  it('is started as it is where it is a program, and by cmd.exe where npm installed it', () => {
    const words = ['-e', 'a "b"\nc']
    assert.deepEqual(started('node', ...words), { program: FILES[0], words, shell: false })
    assert.deepEqual(started('nowhere', 'a'), { program: 'nowhere', words: ['a'], shell: false })
    assert.deepEqual(started('C:\\Program Files\\nodejs\\node', 'a').program, FILES[0])
    const { program, words: none, shell } = started('npx', '-y', 'x')
    assert.deepEqual([program, none, shell], ['C:\\Program^ Files\\nodejs\\npx.CMD ^^^"-y^^^" ^^^"x^^^"', [], true])
  })

  it('gives a batch file the words as they are, whatever they hold', () => {
    const character = fc.constantFrom(...'ab \\"%^&|<>()!;,*?\'=`[]{}$~é')
    fc.assert(
      fc.property(fc.array(fc.string({ unit: character, maxLength: 12 }), { maxLength: 5 }), (words) => {
        const { program: line } = started('codex', ...words)
        const rest = readByCmd(line).slice((FILES[2] as string).length)
        assert.deepEqual(argumentsIn(readByCmd(rest)), words)
        // Only a sign that a caret stands before names no variable.
        assert.doesNotMatch(line.slice((FILES[2] as string).length), /(?<!\^)%/)
      }),
    )
  })

  it('is refused where cmd.exe would stop reading', () => {
    assert.throws(() => started('codex', 'exec', 'a\nb'), { code: 'config_invalid', param: '--' })
  })
})
