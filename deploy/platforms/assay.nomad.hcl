# A group with a backend, and Assay as its sidecar. Both share the group's network namespace. Untried.
job "shop" {
  group "shop" {
    count = 2

    network {
      mode = "bridge"
      port "http" { to = 8000 }
    }

    task "assay" {
      driver = "docker"

      lifecycle {
        hook    = "prestart"
        sidecar = true
      }

      config {
        image           = "registry.example.com/assay:0.1.0"
        readonly_rootfs = true
        cap_drop        = ["ALL"]
        security_opt    = ["no-new-privileges"]
        # The directory: the container would not see a new file in place of /etc/assay/assay.yaml itself.
        volumes         = ["local:/etc/assay:ro"]

        # For keys, until the task ends.
        mount {
          type   = "tmpfs"
          target = "/var/lib/assay"
        }
      }

      template {
        destination   = "local/assay.yaml"
        change_mode   = "signal"
        change_signal = "SIGHUP"
        data          = file("assay.yaml")
      }

      kill_timeout = "15s"

      resources {
        cpu    = 100
        memory = 128
      }
    }

    task "shop" {
      driver = "docker"

      config {
        image = "registry.example.com/shop:1.0.0"
        ports = ["http"]
      }

      env {
        ASSAY_URL = "http://127.0.0.1:8080"
      }
    }
  }
}
