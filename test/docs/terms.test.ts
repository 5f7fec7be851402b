import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { replacedTerms } from '../../scripts/docs/terms.ts'

const GLOSSARY = `# Glossary

| term | meaning |
| --- | --- |
| audit trail | All call records; not audit log. |

## Do not write

| do not write | write | checked in |
| --- | --- | --- |
| audit log, call log | audit trail | pages, code |
| set aside | reserved | pages |
`

describe('the check of terms', () => {
  const root = mkdtempSync(join(tmpdir(), 'gazeway-terms-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'docs'))
  writeFileSync(join(root, 'docs/glossary.md'), GLOSSARY)
  const inPage = (page: string) => {
    writeFileSync(join(root, 'README.md'), page)
    return replacedTerms(root, ['README.md', 'docs/glossary.md'], [])
  }
  const inCode = (code: string) => {
    writeFileSync(join(root, 'a.ts'), code)
    return replacedTerms(root, [], ['a.ts'])
  }

  it('finds a replaced term in a page, whatever its case and number', () => {
    assert.deepEqual(inPage('# Calls\n\nAudit logs are kept.\n'), [
      'README.md:3: "Audit logs" is replaced by audit trail (docs/glossary.md).',
    ])
    assert.match(inPage('The money is set aside.').join(), /"set aside" is replaced by reserved/)
  })

  it('takes the term that replaces it, parts of other words, code blocks and the glossary itself', () => {
    assert.deepEqual(inPage('The audit trail. An audit login.\n\n```sh\necho audit log\n```\n'), [])
  })

  it('finds it in docstrings, comments and messages', () => {
    for (const code of [
      '/** Reads the audit log. */\n',
      '/**\n * Reads the audit log.\n */\n',
      'const a = 1 // from the audit log\n',
      "fail('The audit log is full.')\n",
      '/**\n * Reads the audit\n * log.\n */\n',
      "fail(\n'The audit ' +\n'log is full.')\n",
    ])
      assert.match(inCode(code).join(), /^a\.ts:[12]: "audit\s+log" is replaced/)
  })

  it('leaves names in code alone, and terms that are for pages', () => {
    assert.deepEqual(inCode("const auditLog = log['audit-log']\n/** Money that is set aside. */\n"), [])
  })
})
