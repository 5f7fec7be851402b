import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { newPlace } from './server.ts'
import { connectStateless, STATELESS } from './stateless.ts'

const SANDBOX = ['--upstream', 'sandbox']
const URI = 'skill://gazeway-memory/SKILL.md'

for (const mode of ['legacy', { pin: STATELESS }] as const)
  it(`serves the skill of the plugin, which the SDK's client verifies: ${JSON.stringify(mode)}`, async (t) => {
    const { client } = await connectStateless(newPlace(), mode, { args: SANDBOX })
    t.after(() => client.close())
    const skills = new SkillsClient(client)
    const [skill, ...others] = (await skills.list()).skills
    assert.ok(skills.supported && skill && others.length === 0)
    assert.equal(skill.uri, URI)
    assert.match(skill.frontmatter.description, /^When to ask Gazeway's memory/)
    const file = await skills.read((await skills.get(URI)).skill)
    assert.deepEqual([file.verified, file.text], [true, readFileSync('plugin/skills/gazeway-memory/SKILL.md', 'utf8')])
    const unknown = 'skill://gazeway-memory/other.md'
    await assert.rejects(skills.get(unknown), { code: -32602, message: /skills\/list lists all/ })
    await assert.rejects(client.readResource({ uri: unknown }), /no file/)
  })

it('serves no skill about memories without the tools of memory', async (t) => {
  const { client } = await connectStateless(newPlace(), 'auto', { args: [...SANDBOX, '--tools', 'audit'] })
  t.after(() => client.close())
  assert.equal(new SkillsClient(client).supported, false)
})
