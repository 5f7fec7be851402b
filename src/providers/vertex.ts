import { anthropic } from './anthropic.ts'
import { besideClaude } from './cloud-fields.ts'
import { gemini } from './gemini.ts'
import { GEMINI_FIELDS } from './gemini-fields.ts'
import type { Preset } from './preset.ts'

/** Locations of several regions, which have hosts of another form. */
const MULTI_REGIONS = new Set(['us', 'eu'])

function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  return MULTI_REGIONS.has(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`
}

/**
 * Vertex AI of Google Cloud: Gemini and others by the OpenAI-compatible endpoint, Claude by Messages
 * (https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude).
 */
export const vertex: Preset = {
  name: 'vertex',
  label: 'Google Vertex AI',
  baseUrl: 'https://aiplatform.googleapis.com/v1',
  protocol: 'openai',
  key: { variable: 'GOOGLE_OAUTH_ACCESS_TOKEN', page: 'https://console.cloud.google.com/iam-admin/serviceaccounts' },
  cloud: {
    kind: 'vertex',
    variables: {
      project: ['GOOGLE_CLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'],
      region: ['GOOGLE_CLOUD_LOCATION', 'CLOUD_ML_REGION'],
      credentials_file: ['GOOGLE_APPLICATION_CREDENTIALS'],
    },
    needs: ['project', 'region'],
    address: ({ project, region }) =>
      `https://${hostOf(region ?? '')}/v1/projects/${encodeURIComponent(project ?? '')}/locations/${region}`,
    hosts: /(?:^|[.-])aiplatform(?:\.[a-z]+\.rep)?\.googleapis\.com$/,
    isRegional: ({ region }) => region !== 'global',
  },
  roles: {},
  pricedFields: {
    ...besideClaude(GEMINI_FIELDS),
    // `google/gemini-…` at the OpenAI-compatible endpoint, `claude-…@20251101` for a version.
    readId: (model) => ({ priced: model.replace(/^google\//, '').replace(/@[\w.-]+$/, '') }),
  },
  models: { ...gemini.models, ...anthropic.models },
  pricedLike: ['gemini', 'anthropic'],
}
