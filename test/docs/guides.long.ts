import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { followGuide, type Step } from './guide.ts'
import { assertShown } from './shown-output.ts'

/** The database that a guide tells its reader to have. */
const DATABASE = 'postgres://gazeway:PASSWORD@127.0.0.1:5432/gazeway'

for (const file of readdirSync('docs/guides')) {
  describe(`docs/guides/${file}`, () => {
    const page = readFileSync(`docs/guides/${file}`, 'utf8')
    let postgres: PostgresServer | undefined
    let steps: Step[] = []
    before(async () => {
      postgres = page.includes(DATABASE) ? await startPostgres() : undefined
      const here: Record<string, string> = postgres === undefined ? {} : { [DATABASE]: await postgres.database() }
      steps = await followGuide(page, here)
    })
    after(() => postgres?.remove())

    it('has commands, and shows what they print', () => {
      const shown = steps.filter((step) => step.shown !== undefined)
      assert.ok(shown.length >= 4, `${shown.length} of ${steps.length} blocks`)
    })

    it('prints what it shows', () => {
      for (const { output, shown } of steps) if (shown !== undefined) assertShown(output, shown)
    })

    it('fails nowhere but where it shows so', () => {
      for (const { text, output, failed, shown } of steps) {
        const isMeant = /"error"|FAIL/.test(shown?.text ?? '')
        assert.ok(isMeant || (failed.length === 0 && !output.includes('{"error":')), `${text}${failed}\n${output}`)
      }
    })
  })
}
