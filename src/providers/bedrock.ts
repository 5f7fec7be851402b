import { anthropic } from './anthropic.ts'
import { besideClaude } from './cloud-fields.ts'
import { OPENAI_FIELDS } from './openai-fields.ts'
import type { Catalogue, Preset } from './preset.ts'

/** Ids of Claude by its global inference profiles, which cost what Anthropic asks. */
const globalProfiles = (models: Catalogue): Catalogue =>
  Object.fromEntries(Object.entries(models).map(([id, model]) => [`global.anthropic.${id}`, model]))

/** Regions before the id of a model, where an inference profile has one. */
const GEOGRAPHY = /^(?:us|eu|apac|jp|au|ca|us-gov)\.(?=anthropic\.)/

/**
 * Amazon Bedrock: Claude by InvokeModel with the body of Messages
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html); others by the
 * OpenAI-compatible endpoint.
 */
export const bedrock: Preset = {
  name: 'bedrock',
  label: 'Amazon Bedrock',
  baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  protocol: 'anthropic',
  key: { variable: 'AWS_BEARER_TOKEN_BEDROCK', page: 'https://console.aws.amazon.com/bedrock' },
  cloud: {
    kind: 'bedrock',
    variables: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'], profile: ['AWS_PROFILE'] },
    needs: ['region'],
    address: ({ region }) => `https://bedrock-runtime.${region}.amazonaws.com${region?.startsWith('cn-') ? '.cn' : ''}`,
    // Other hosts of amazonaws.com, such as instances and buckets, are anybody's.
    hosts: /(?:^|\.)bedrock-(?:runtime|mantle)(?:-fips)?\.[a-z0-9-]+\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/,
  },
  roles: {},
  pricedFields: {
    ...besideClaude(OPENAI_FIELDS),
    // Profiles of a geography and models of a region cost alike.
    readId: (model) => ({
      priced: model
        .replace(/-v\d+(?::\d+)?$/, '')
        .replace(GEOGRAPHY, 'regional.')
        .replace(/^anthropic\./, 'regional.anthropic.'),
    }),
  },
  models: globalProfiles(anthropic.models),
}
