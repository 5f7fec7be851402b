import * as z from 'zod'
import { inThread } from '../wire/in-thread.ts'
import { Classification, classify, formatClassification } from './classification.ts'
import { Finding, findFindings } from './findings.ts'
import { computeMetrics, GazeMetrics } from './gaze-metrics.ts'
import type { Gaze } from './scanpath.ts'
import { readTensor } from './tensor.ts'

/** More records are analysed in a thread of their own: 10,000 take a quarter of a second. */
const MOST_HERE = 500

/** The figures of some records and what stands out in them. `truncated`: the range has more records than were read. */
export const GazeAnalysis = z.object({
  metrics: GazeMetrics,
  classification: Classification,
  tensor: z.string().describe('The classification in one line: COG:0.62/EMO:0.14/ENV:0.24'),
  findings: z.array(Finding),
  truncated: z.boolean(),
})
export type GazeAnalysis = z.infer<typeof GazeAnalysis>

/** A record as far as an analysis looks at it; `tensor` is JSON. */
export interface AnalysedRecord {
  session_id: string
  tensor: string
}

/** Result of an analysis, independent of the range. */
type Analysed = Omit<GazeAnalysis, 'truncated'>

/** Analyses some records; many of them keep nobody else waiting. */
export function analyseRecords(records: readonly AnalysedRecord[]): Promise<Analysed> | Analysed {
  return records.length <= MOST_HERE ? analyse(records) : inThread(CODE, records)
}

const CODE = { source: new URL('./analysis-thread.ts', import.meta.url), name: 'gaze-analysis' }

/** The figures of some records and what stands out in them: a pure function of its input. */
export function analyse(records: readonly AnalysedRecord[]): Analysed {
  const read: Gaze[] = records.map(({ session_id, tensor }) => ({ ...readTensor(tensor), session_id }))
  const metrics = computeMetrics(read)
  const classification = classify(read)
  return {
    metrics,
    classification,
    tensor: formatClassification(classification),
    findings: findFindings(metrics),
  }
}
