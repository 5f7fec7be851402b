import { ExplainedGaze, ExplainGaze } from '../src/gaze/explain-gaze.ts'
import { plain } from '../src/text/single-line.ts'
import { defineTool } from './tool.ts'

export const analyzeGazePattern = defineTool({
  name: 'gateway_analyze_gaze_pattern',
  title: 'Analyse gaze patterns',
  description:
    'Figures of gaze records: fixations, dwell by place, transitions, focus and load with trends, a COG/EMO/ENV ' +
    'classification, findings. Use it for questions about attention. A model explains them, which costs money, unless ' +
    'narrate is false. Example: from "2026-11-21T08:00:00Z", question "When did I lose focus?".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: ExplainGaze,
  output: ExplainedGaze,
  run: ({ gaze }, input, context) => gaze.explain(input, context, context.gazeOf),
  render({ metrics, tensor, findings, narrative, narrative_error }) {
    const { fixations, focus, load, dwell_by_place } = metrics
    return [
      `${metrics.records} records over ${Math.round(metrics.duration_ms / 1000)} s, ${tensor}`,
      `Fixations: ${fixations.count}, mean ${figure(fixations.mean_ms, 0)} ms. ` +
        `Focus ${figure(focus.mean, 2)}, load ${figure(load.mean, 2)}.`,
      ...dwell_by_place.slice(0, 5).map(({ path, share }) => `${Math.round(share * 100)} % ${plain(path)}`),
      ...findings.map((finding) => `- ${finding.text}`),
      ...(narrative ? ['', narrative] : []),
      ...(narrative_error ? ['', `No narrative: ${narrative_error}`] : []),
    ].join('\n')
  },
})

const figure = (value: number | null, decimals: number) => (value === null ? '-' : value.toFixed(decimals))
