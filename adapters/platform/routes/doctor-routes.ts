import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { lazily } from '../../../src/lazily.ts'
import type { Finding } from '../../doctor/check.ts'
import { defineRoute, type Route } from '../define-route.ts'

/** Timeout of one check, in milliseconds. */
const LONGEST_MS = 30_000

const loadDoctor = lazily(() => import('../../doctor/doctor.ts'))

/** Verdicts of checks. */
export const Verdict = z.enum(['ok', 'warn', 'fail'])

const Findings = z.object({
  at: z.string().describe('When the checks ended'),
  healthy: z.boolean().describe('False when a check failed'),
  items: z.array(
    z.object({
      name: z.string().describe('Name of the check'),
      verdict: Verdict,
      text: z.string().describe('What was found, and what to do'),
      settings: z.string().nullable().describe('Section, setting or entry that it is about'),
    }),
  ),
  total: z.int(),
})
export type Findings = z.infer<typeof Findings>

const DoctorQuery = z.strictObject({
  max_age: z
    .int()
    .min(0)
    .max(3_600)
    .default(0)
    .describe('Findings of a run that ended at most so many seconds ago will do, where the configuration is the same.'),
})

/** Route of the checks. Requests during a run share it. */
export function doctorRoutes(gateway: Gateway): Route[] {
  let running: Promise<Findings> | undefined
  let last: { findings: Findings; under: Gateway['loaded'] } | undefined
  const isKept = (maxAge: number) =>
    last?.under === gateway.loaded && Date.now() - Date.parse(last.findings.at) < 1_000 * maxAge
  return [
    defineRoute('GET /api/doctor', {
      operation: 'runDoctor',
      summary: 'Check the store, the upstreams and all that is configured',
      description:
        'The checks of `gazeway doctor`, in the running gateway. The command also reads a whole SQLite file for damage.',
      access: 'admin',
      query: DoctorQuery,
      reply: Findings,
      async run({ query }) {
        if (last && isKept(query.max_age)) return last.findings
        const under = gateway.loaded
        running ??= runOnce(gateway).finally(() => {
          running = undefined
        })
        const findings = await running
        last = { findings, under }
        return findings
      },
    }),
  ]
}

async function runOnce(gateway: Gateway): Promise<Findings> {
  const { machineFindings, runChecks } = await loadDoctor()
  const items: Finding[] = machineFindings(gateway.loaded)
  for await (const finding of runChecks(gateway, { limitMs: LONGEST_MS })) items.push(finding)
  const healthy = items.every(({ verdict }) => verdict !== 'fail')
  return { at: new Date().toISOString(), healthy, items, total: items.length }
}
