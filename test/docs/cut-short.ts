import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { scriptArgs } from '../doubles/script.ts'

const DEMO = scriptArgs('scripts/demo.ts')

/** Tests that stop demos early. @param demos the flags of each */
export const cutShort = (demos: readonly string[][]) =>
  describe('a demo that is cut short', () => {
    const temporary = mkdtempSync(join(tmpdir(), 'gazeway-cut-short-'))
    after(() => rmSync(temporary, { recursive: true }))

    /** A demo that has begun to tell. */
    async function begun(args: string[]) {
      const env = { ...process.env, TMPDIR: temporary }
      const child = spawn(process.execPath, [...DEMO, ...args], {
        detached: true,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const said = text(child.stderr)
      await once(child.stdout, 'data')
      assert.equal(left().length, 1)
      return { child, said, closed: once(child, 'close') }
    }
    const left = () => readdirSync(temporary).filter((name) => name.startsWith('gazeway-demo-'))

    for (const args of demos) {
      it(`leaves no folder behind after Ctrl+C: ${args.join(' ') || 'the tools'}`, async () => {
        const { child, closed } = await begun(args)
        child.stdout.resume()
        process.kill(-Number(child.pid), 'SIGINT')
        assert.deepEqual(await closed, [130, null])
        assert.deepEqual(left(), [])
      })

      it(`exits without an error when its output is closed: ${args.join(' ') || 'the tools'}`, async () => {
        const { child, said, closed } = await begun(args)
        child.stdout.destroy()
        assert.deepEqual([await closed, await said], [[0, null], ''])
        assert.deepEqual(left(), [])
      })
    }
  })
