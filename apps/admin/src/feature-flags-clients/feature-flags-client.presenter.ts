import { presenter, text } from '@rookery/api-v4';

/** Source: reference packages-and-admin 9.3. */
export const featureFlagsClientPresenter = presenter<{ readonly token: string }>('FeatureFlagsClient').fields({
  token: [text, (client) => client.token, { about: 'The instance id of Unleash clients.', shownOnce: true }],
});
