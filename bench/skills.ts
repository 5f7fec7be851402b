import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkConfig } from '../src/config/check-config.ts'
import { createSkills } from '../src/skills/skills.ts'
import { freePort } from '../test/doubles/free-port.ts'
import { temporaryFolder } from './folder.ts'
import { startServer } from './http-process.ts'
import type { Report } from './report.ts'
import { interleave, median } from './stats.ts'

const SKILLS = 100
const KEY = 'a-fixed-admin-key-for-this-run'
const LATER = { warmups: 10, rounds: 100 }
const FIRST = 9

/** Listing the skills of a person: each time they are looked for on disk, and read where they changed. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('skills')
  const home = join(folder, 'home')
  writeSkills(home)
  const first: number[] = []
  for (let i = 0; i < FIRST; i++) first.push(await firstList(home))

  const port = await freePort()
  const args = ['dist/cli.js', '--platform', '--platform-port', `${port}`, '--upstream', 'sandbox']
  const env = { HOME: home, GAZEWAY_HOME: join(folder, 'data'), GAZEWAY_API_KEY: KEY }
  const platform = await startServer(process.execPath, args, { port, env })
  const get = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${KEY}` } })
    const { total } = (await reply.json()) as { total: number }
    if (!(total >= SKILLS)) throw new Error(`${path} has ${total} of ${SKILLS} skills.`)
  }
  const { list } = await interleave({ list: () => get('/api/skills') }, LATER)
  await platform.stop()

  report.add({ what: `${SKILLS} skills listed over HTTP, warm`, unit: 'ms', figure: list, bar: { atMost: 10 } })
  report.add({ what: `${SKILLS} skills read the first time`, unit: 'ms', figure: median(first) })
}

async function firstList(home: string): Promise<number> {
  const config = checkConfig({}).data?.skills
  if (!config) throw new Error('The defaults are not valid.')
  const skills = createSkills({ config: () => config, home, cwd: home, dataDir: join(home, 'data') })
  const start = performance.now()
  await skills.list({})
  return performance.now() - start
}

function writeSkills(home: string): void {
  for (let i = 0; i < SKILLS; i++) {
    const folder = join(home, i % 2 === 0 ? '.hermes' : '.claude', 'skills', `category-${i % 10}`, `skill-${i}`)
    mkdirSync(folder, { recursive: true })
    const fields = `name: skill-${i}\ndescription: Does the thing that number ${i} stands for.\nmetadata:\n  tags: [a, b]`
    writeFileSync(join(folder, 'SKILL.md'), `---\n${fields}\n---\n${'What to do, step by step.\n'.repeat(100)}`)
  }
}
