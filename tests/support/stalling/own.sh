# The disk has a limit of its own, as somebody has set it.
bdi=/sys/class/bdi/$(cat /sys/block/$name/dev)
echo 1 > $bdi/max_ratio; echo 1 > $bdi/strict_limit
/stalling write /mnt/own > /tmp/kept/own.txt & program=$!
sh /recorder.sh --pid $program --over 100ms --out /tmp/kept & recorder=$!
sleep 5
dd if=/dev/zero of=/mnt/copy bs=1M count=100 &
wait $recorder
kill $program
