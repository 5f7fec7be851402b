import * as z from 'zod'
import { RetrieveGaze } from '../src/gaze/gaze-history.ts'
import { GazeRecord } from '../src/gaze/tensor.ts'
import { plain } from '../src/text/single-line.ts'
import { defineTool } from './tool.ts'

export const retrieveGazeData = defineTool({
  name: 'gateway_retrieve_gaze_data',
  title: 'Retrieve gaze history',
  description:
    'Single gaze records, newest first. For figures use gateway_analyze_gaze_pattern, for what to work on ' +
    'gateway_get_context. Example: path "src/billing", from "2026-11-20T00:00:00Z", limit 20.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: RetrieveGaze.strict(),
  output: z.object({ items: z.array(GazeRecord), total: z.int(), next_cursor: z.string().nullable() }),
  run: ({ gaze }, input, { gazeOf, maxBytes }) => gaze.retrieve({ ...input, maxBytes }, gazeOf),
  render({ items, total, next_cursor }) {
    const lines = items.map(({ at, dwell_ms, source, cog, emo, env }) => {
      const place = plain(env.path ?? env.url ?? env.app ?? '-')
      const at_lines = env.line_start === undefined ? '' : `#L${env.line_start}-L${env.line_end ?? env.line_start}`
      const measured = Object.entries({ focus: cog?.focus, load: cog?.load, valence: emo?.valence })
      const levels = measured.flatMap(([name, value]) => (value === undefined ? [] : `, ${name} ${value}`))
      return `${at} ${source} ${place}${at_lines} ${dwell_ms} ms${levels.join('')}`
    })
    const more = next_cursor ? [`More with cursor ${next_cursor}`] : []
    return [`${total} ${total === 1 ? 'record' : 'records'}`, ...lines, ...more].join('\n')
  },
})
