import { Invalid } from '@rookery/kernel';
import { defineCollection } from '@rookery/persistence';
import { GeoSite } from './geo-site.entity';

/** Geo sites in the order of creation. */
export const geoSites = defineCollection(GeoSite, {
  resource: 'GeoSite',
  order: { id: 'ASC' },
  taken: {
    uq_geo_sites_name: () => new Invalid({ name: ['has already been taken'] }),
    uq_geo_sites_is_primary: () => new Invalid({ primary: ['node already exists'] }),
  },
});
