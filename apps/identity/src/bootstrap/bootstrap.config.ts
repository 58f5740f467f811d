import { defineSettings, setting } from '@rookery/platform';

/** Settings of the command `bootstrap`. */
export const bootstrapSettings = defineSettings('bootstrap', {
  rootToken: setting.secret('ROOKERY_ROOT_TOKEN', {
    default: null,
    about: 'Token of the administrator `root` (id 1), with all scopes; read by the command `bootstrap`.',
    check: (text) => (text.length >= 20 ? null : 'is shorter than 20 characters'),
  }),
  rootEmail: setting.text('ROOKERY_ROOT_EMAIL', {
    default: 'admin@example.com',
    about: 'E-mail address of the administrator `root`, set when the command `bootstrap` creates it.',
  }),
});
