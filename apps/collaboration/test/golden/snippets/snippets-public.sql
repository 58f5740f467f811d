-- snippets_public_20
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          snippets i
        where
          i.project_id is null
          and i.visibility = 'public'
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(i.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not i.is_heavy then (
                select
                  format(
                    '{"id":%s,"title":%s,"file_name":%s,"files":[%s],"description":%s,"visibility":"%s","author":%s,"updated_at":"%s","created_at":"%s","project_id":%s,"imported":%s,"imported_from":"%s","web_url":"http://localhost:8080/%s","raw_url":"http://localhost:8080/%s","ssh_url_to_repo":null,"http_url_to_repo":null}',
                    i.id,
                    to_json(i.title),
                    to_json(
                      (
                        select
                          f.path
                        from
                          snippet_files f
                        where
                          f.snippet_id = i.id
                        order by
                          f.path collate "C"
                        limit
                          1
                      )
                    ),
                    array_to_string(files.texts, ','),
                    coalesce(to_json(i.description)::text, 'null'),
                    i.visibility,
                    coalesce(
                      (
                        select
                          format(
                            '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                            u.id,
                            u.username,
                            coalesce(to_json(u.public_email)::text, 'null'),
                            to_json(u.name),
                            u.state,
                            coalesce(
                              to_json(
                                case
                                  when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                  else u.avatar_url
                                end
                              )::text,
                              'null'
                            ),
                            u.username
                          )
                        from
                          directory_users u
                        where
                          u.id = i.author_id
                      ),
                      'null'
                    ),
                    to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    coalesce((i.project_id)::text, 'null'),
                    case
                      when (
                        i.project_id is null
                        and exists (
                          select
                            1
                          from
                            imported_snippets o
                          where
                            o.author_id = i.author_id
                            and o.snippet_id = i.id
                        )
                      ) then 'true'
                      else 'false'
                    end,
                    case
                      when (
                        i.project_id is null
                        and exists (
                          select
                            1
                          from
                            imported_snippets o
                          where
                            o.author_id = i.author_id
                            and o.snippet_id = i.id
                        )
                      ) then 'remote'
                      else 'none'
                    end,
                    case
                      when i.project_id is null then '-/snippets/' || i.id
                      else:$1::text || '/-/snippets/' || i.id
                    end,
                    case
                      when i.project_id is null then '-/snippets/' || i.id
                      else:$1::text || '/-/snippets/' || i.id
                    end || '/raw'
                  )
                from
                  (
                    select
                      array_agg(
                        format(
                          '{"path":%s,"raw_url":"http://localhost:8080/%s"}',
                          to_json(f.path),
                          case
                            when i.project_id is null then '-/snippets/' || i.id
                            else:$1::text || '/-/snippets/' || i.id
                          end || '/raw/main/' || f.url_path
                        )
                        order by
                          f.path collate "C"
                      ) as texts
                    from
                      snippet_files f
                    where
                      f.snippet_id = i.id
                  ) files
              )
            end,
            ','
            order by
              i.created_at desc,
              i.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          i.*,
          sum(coalesce(octet_length(i.description), 0)) over () > 524288 as is_heavy
        from
          (
            select
              i.*
            from
              snippets i
            where
              i.project_id is null
              and i.visibility = 'public'
            order by
              i.created_at desc,
              i.id desc
            limit
              20
          ) i
      ) i
  ) as json
