import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { program } from '../../adapters/command/program.ts'
import { CODING_AGENT_NAMES } from '../../src/coding-agents/agent-names.ts'

const WEB = 'adapters/console/web'
/** A command in the console's data or text: `command: 'gazeway setup'`, `<code>gazeway doctor</code>`. */
const COMMAND = /(?<!Error\()(?:['"`]|<code>)(gazeway [^'"`<]+)(?:['"`]|<\/code>)/g

/** Commands of the console, each with the file that has it. Values that the page fills in are words. */
const shown = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && file !== 'api-types.ts')
  .flatMap((file) =>
    [
      ...readFileSync(join(WEB, file), 'utf8')
        .replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
        .matchAll(COMMAND),
    ].map(([, command = '']) => ({
      file,
      command: command.replace(/\$\{[^}]*\}/g, 'VALUE'),
    })),
  )

const isAgent = (name: unknown) => CODING_AGENT_NAMES.some((agent) => agent === name)

/** Thrown in place of what an understood command would do. */
class Understood extends Error {}

describe('the commands that the console names', () => {
  let isWatched = false
  before(() => {
    isWatched = true
    program.hook('preAction', () => {
      if (isWatched) throw new Understood()
    })
  })
  after(() => {
    isWatched = false
  })
  const parse = (command: string) => program.parseAsync(command.split(' ').slice(1), { from: 'user' })

  it('are understood by the command line, with their flags and values', async () => {
    const commands = shown.map(({ command }) => command)
    for (const known of ['gazeway setup', 'gazeway connect claude-code', 'gazeway key create --name laptop'])
      assert.ok(commands.includes(known), `${known} is among ${commands.join('; ')}`)
    for (const { file, command } of shown) {
      await assert.rejects(parse(command), Understood, `${file}: ${command}`)
      const [, , agent] = command.split(' ')
      if (/^gazeway (dis)?connect /.test(command)) assert.ok(isAgent(agent), `${file}: ${command}`)
    }
  })

  it('would be refused with a word, a flag or a value that there is not', async () => {
    for (const command of ['gazeway key made', 'gazeway connect claude-code --fast', 'gazeway doctor now'])
      await assert.rejects(parse(command), { code: /^commander\./ }, command)
  })
})
