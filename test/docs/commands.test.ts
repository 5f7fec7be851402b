import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type Tested, untestedCommands } from '../../scripts/docs/commands.ts'

const COMMANDS = '```sh\ngazeway doctor\n```\n'

describe('the check of commands', () => {
  const root = mkdtempSync(join(tmpdir(), 'gazeway-commands-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'docs'))
  mkdirSync(join(root, 'test'))
  writeFileSync(join(root, 'test/doctor.test.ts'), "readFileSync('docs/doctor.md', 'utf8')")
  const doctor = { page: 'docs/doctor.md', test: 'test/doctor.test.ts' }
  const faultsOf = (page: string, tested: readonly Tested[], notRun = 0) => {
    writeFileSync(join(root, 'docs/doctor.md'), page)
    return untestedCommands(root, ['docs/doctor.md'], { tested, notRun })
  }

  it('takes commands of a page that a test runs, and of a folder', () => {
    assert.deepEqual(faultsOf(`# Doctor\n\n${COMMANDS}`, [doctor]), [])
    assert.deepEqual(faultsOf(`# Doctor\n\n${COMMANDS}`, [{ ...doctor, page: 'docs/' }]), [])
  })

  for (const language of ['sh', 'bash', 'shell', 'console'])
    it(`finds commands that no test runs: ${language}`, () => {
      const [fault = '', ...more] = faultsOf(`# Doctor\n\n${COMMANDS.replace('sh', language)}`, [])
      assert.match(fault, /^docs\/doctor\.md:3: no test runs these commands/)
      assert.deepEqual(more, [])
    })

  it('finds those under another heading than the test runs', () => {
    const page = `# Doctor\n\n## One\n\n${COMMANDS}\n## Two\n\n${COMMANDS}`
    assert.match(faultsOf(page, [{ ...doctor, headings: ['One'] }]).join(), /^docs\/doctor\.md:11: [^,]*$/)
  })

  it('takes a reason, and counts it', () => {
    const page = `# Doctor\n\n<!-- not run: needs Docker -->\n\n${COMMANDS}`
    assert.deepEqual(faultsOf(page, [], 1), [])
    assert.match(faultsOf(page, []).join(), /^1 block/)
    assert.match(faultsOf(page.replace('needs Docker ', ''), [], 1).join(), /no test runs these commands/)
  })

  it('finds a test that is gone, or that does not name the page', () => {
    assert.match(faultsOf('', [{ ...doctor, test: 'test/none.test.ts' }]).join(), /none\.test\.ts does not exist/)
    writeFileSync(join(root, 'test/other.test.ts'), "readFileSync('docs/other.md', 'utf8')")
    assert.match(faultsOf('', [{ ...doctor, test: 'test/other.test.ts' }]).join(), /does not name docs\/doctor\.md/)
    assert.match(faultsOf('', [{ ...doctor, page: 'docs/gone.md' }]).join(), /docs\/gone\.md does not exist/)
  })
})
