import { defineSettings, setting } from '@rookery/platform';

export const packageSettings = defineSettings('package', {
  protectedPackagesDelete: setting.flag('PACKAGES_PROTECTED_PACKAGES_DELETE', {
    default: false,
    about: 'Whether package protection rules may also restrict deletion.',
  }),
});
