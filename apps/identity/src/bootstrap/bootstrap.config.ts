import { defineSettings, setting } from '@rookery/platform';

/** What only the command `bootstrap` needs. */
export const bootstrapSettings = defineSettings('bootstrap', {
  rootToken: setting.secret('ROOKERY_ROOT_TOKEN', {
    default: null,
    about: 'Token of the administrator `root` (id 1), with every scope; read by the command `bootstrap`.',
    check: (text) => (text.length >= 20 ? null : 'is shorter than 20 characters'),
  }),
  rootEmail: setting.text('ROOKERY_ROOT_EMAIL', {
    default: 'admin@example.com',
    about: 'Address of the administrator `root` when the command `bootstrap` makes it.',
  }),
});
