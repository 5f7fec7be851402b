import * as z from 'zod'
import { inThread } from '../wire/in-thread.ts'
import { threadCode } from '../wire/thread.ts'
import { Classification, classify, formatClassification } from './classification.ts'
import { Finding, findFindings } from './findings.ts'
import { computeMetrics, GazeMetrics } from './gaze-metrics.ts'
import type { Gaze } from './scanpath.ts'
import { readTensor } from './tensor.ts'

/** Maximum number of records analysed on the main thread. 10,000 would block it for a quarter of a second. */
const MAX_HERE = 500

/** Metrics, classification and findings of some records. `truncated`: the range has more records than were read. */
export const GazeAnalysis = z.object({
  metrics: GazeMetrics,
  classification: Classification,
  tensor: z.string().describe('The classification in one line: COG:0.62/EMO:0.14/ENV:0.24'),
  findings: z.array(Finding),
  truncated: z.boolean(),
})
export type GazeAnalysis = z.infer<typeof GazeAnalysis>

/** Fields of a record that an analysis reads; `tensor` is JSON. */
export interface AnalysedRecord {
  session_id: string
  tensor: string
}

/** Result of an analysis, independent of the range. */
type Analysed = Omit<GazeAnalysis, 'truncated'>

/** Analyses some records. A large batch runs in a worker thread, so that the main thread stays free. */
export function analyseRecords(records: readonly AnalysedRecord[]): Promise<Analysed> | Analysed {
  return records.length <= MAX_HERE ? analyse(records) : inThread(CODE, records)
}

const CODE = threadCode({ source: new URL('./analysis-thread.ts', import.meta.url), name: 'gaze-analysis' })

/** Computes the metrics, classification and findings of some records. A pure function. */
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
